"""Measures of the kitchen: `weight` in grams, `volume` in millilitres, `wording` for people."""
