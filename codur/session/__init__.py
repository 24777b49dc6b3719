"""One task from prompt to result, and what is done with runs afterwards."""
