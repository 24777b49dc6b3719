"""What flows between tools: kinds of values and outputs, and which tool can follow which."""
