"""The kinds of edits that a search tries: files named by the syntax that they edit, and the table that lists them all.

Each operator is a pure function from a node and its context to proposals. It may use `repair/code` and what is known
of the failure (`repair/evidence`); only the table is for others. A new one goes into the file of its syntax, with a row
in `table.py`, a case in the tests, and its name in a row of `repair/hints.py`.
"""
