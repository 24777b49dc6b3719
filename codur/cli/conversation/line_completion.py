"""Completes what is typed in a conversation: commands after `/`, what they take, files and definitions after `@`."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from codur.cli.conversation.slash_commands import COMMANDS

_SHOWN = 50


class LineCompleter(Completer):
    """Completes a line.

    Args:
        files: gives the project's files.
        symbols: gives what its sources define, each with the files that do.
        values: what a command can be followed by, by its name.
    """

    def __init__(
        self,
        files: Callable[[], Sequence[str]],
        symbols: Callable[[], Mapping[str, str]],
        values: Mapping[str, Callable[[], Sequence[str]]],
    ) -> None:
        self._files = files
        self._symbols = symbols
        self._values = values

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002 - the toolkit's
        """What the text before the cursor can be completed to, best first."""
        text = document.text_before_cursor
        if text.startswith("/") and " " not in text:
            for command in COMMANDS:
                if command.name.startswith(text[1:]):
                    yield Completion(f"/{command.name}", -len(text), display_meta=command.help)
            return
        word = text.rpartition(" ")[2].rpartition("\n")[2]
        if text.startswith("/"):
            yield from _fitting(word, dict.fromkeys(self._values.get(text[1:].partition(" ")[0], tuple)(), ""))
        elif word.startswith("@"):
            yield from _fitting(word[1:], dict.fromkeys(self._files(), ""), mark="@")
            if len(word) > 1 and "/" not in word:
                yield from _fitting(word[1:], self._symbols(), mark="@")


def _fitting(typed: str, names: Mapping[str, str], mark: str = "") -> Iterable[Completion]:
    """Names that begin so, then those whose last part does, then those that hold it; beside each what it has."""
    key = typed.lower()
    ranks: tuple[list[str], list[str], list[str]] = ([], [], [])
    for name in names:
        low = name.lower()
        rank = 0 if low.startswith(key) else 1 if low.rpartition("/")[2].startswith(key) else 2 if key in low else None
        if rank is not None:
            ranks[rank].append(name)
    for name in [name for rank in ranks for name in rank][:_SHOWN]:
        yield Completion(f"{mark}{name}", -len(typed) - len(mark), display_meta=names[name])
