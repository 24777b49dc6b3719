"""The assembler of the Pebble. The rules are in TASK.md."""


class AssemblyError(ValueError):
    """A line that cannot be assembled: `line` is its number, counted from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line


def assemble(source: str) -> bytes:
    """The memory image of a program."""
    raise NotImplementedError


def symbols(source: str) -> dict[str, int]:
    """The values of all names that a program defines, in the order of their definition."""
    raise NotImplementedError
