"""Attacks on what Codur promises, each with a control that shows that the attack works where nothing holds it."""
