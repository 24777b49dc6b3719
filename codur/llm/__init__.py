"""Models: who can be asked, what it costs, and what happens when a service does not answer."""
