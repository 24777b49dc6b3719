"""The graph: which nodes there are and where each may go (`wiring`), and what runs it."""
