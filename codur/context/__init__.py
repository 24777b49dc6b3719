"""What a model is shown of a workspace: ranked, cut to a size, nothing that was asked for left out.

`agents`, `planning` and `nodes` import it.
"""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.context import dangling_names, index

__all__ = ["dangling_names", "index"]
__getattr__ = parts_of(__name__)
