"""Plans: their text, their rules, their order."""
