"""Whether a pass means something: the judge must be able to fail, and other inputs must give other outputs."""
