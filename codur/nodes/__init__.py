"""The nodes of the graph, one module each with a function of its name; what they share is in `parts`."""
