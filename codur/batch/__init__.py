"""Many challenges at once: found, handed to worker processes, judged, kept. `cli` alone imports it."""
