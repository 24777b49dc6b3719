"""What is known of Python projects: interpreters, where their packages lie, how their tests are run.

Imported by `checks`, `tools`, `repair` and what is above them. A fact about interpreters, layouts or test runners
that more than one of those needs is added here.
"""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.python import interpreter

__all__ = ["interpreter"]
__getattr__ = parts_of(__name__)
