"""Model text → JSON, tool calls, code: tolerant in reading, but what was cut off is never completed."""
