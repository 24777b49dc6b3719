"""The operations on a workspace that models and plans may call. A new tool is a row of `TOOLS` in its module."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.tools import server_tools, toolbox

__all__ = ["server_tools", "toolbox"]
__getattr__ = parts_of(__name__)
