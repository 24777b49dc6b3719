"""A challenge: a directory with a task and something to check it by."""

from pathlib import Path

from codur.errors import UsageError
from codur.structs import Struct

PROMPT_FILE = "prompt.txt"
DEFAULT_PROMPT = "Fix the program so that its check passes."
MAX_PROMPT_CHARS = 100_000


class Challenge(Struct):
    """One challenge."""

    name: str  # what it is listed under, unique in a batch
    directory: Path  # where it is, absolute
    problem: str = ""  # why it cannot be worked on; empty if nothing is known to be wrong
    task: str = ""  # what is to be done, where a dataset says so and not the directory
    check: str = ""  # the command that decides, where a dataset names the tests

    def prompt(self) -> str:
        """The task; else the text of `prompt.txt`, or a general one if there is none.

        Raises:
            UsageError: the file cannot be read, or leads elsewhere.
        """
        if self.task:
            return self.task
        path = self.directory / PROMPT_FILE
        try:
            if not path.exists():
                return DEFAULT_PROMPT
            if not path.is_file():  # reading a pipe would wait for a writer
                raise UsageError(f"{path}: is not a regular file", remedy="Write the task as plain text.")
            if not path.resolve().is_relative_to(self.directory.resolve()):  # a key of the user's would be sent
                raise UsageError(f"{path}: leads out of the challenge", remedy="Write the task into the file itself.")
            with path.open(encoding="utf-8") as stream:
                text = stream.read(MAX_PROMPT_CHARS)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: cannot be read as UTF-8 text", remedy="Write the task as plain text.") from error
        return text if text.strip() else DEFAULT_PROMPT
