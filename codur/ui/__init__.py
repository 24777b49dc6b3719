"""What a person or a machine sees of a run: the one package that writes to the terminal and imports rich."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.ui import batch_live, formatted_text, json_output, rich_output, screen
    from codur.ui.shown.trace_page import trace_page

__all__ = ["batch_live", "formatted_text", "json_output", "rich_output", "screen", "trace_page"]
__getattr__ = parts_of(__name__, trace_page="codur.ui.shown.trace_page")
