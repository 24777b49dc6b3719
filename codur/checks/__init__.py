"""What decides whether work is done: which check there is, how it is run, what its verdict says.

A new kind of check starts in `discover`.
"""
