"""What is known of Python projects: interpreters, where their packages lie, how their tests are run.

Imported by `checks`, `tools`, `repair` and what is above them. A fact about interpreters, layouts or test runners
that more than one of those needs is added here.
"""
