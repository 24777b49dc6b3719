"""A word that is no command is a task, or a wish to commit: puts the command in front where none was given."""

import os
import stat
from collections.abc import Collection, Sequence
from typing import Final

from codur import cli
from codur.errors import UsageError
from codur.lazy import late

difflib = late("difflib")

TASK_COMMAND = "run"
FEW_WORDS = 2
VALUE_OPTIONS: Final = (
    *("-C", "--directory", "-f", "--file", "--check", "--expect", "--hint", "--plan-file", "--agent", "--config"),
    *("--max-llm-calls", "--max-iterations", "--max-tokens", "--timeout", "--budget", "--samples", "--scope"),
    *("--max-files", "--record", "--replay"),
)
"""The options of a task that take a value; the parser has the same."""
COMMIT_OPTIONS: Final = (
    *("-C", "--directory", "--all", "-a", "--staged", "--only", "--message", "-m", "--no-verify", "--dry-run"),
    *("--offline", "--amend", "--undo", "--init", "--reword", "--json"),
)
"""The options of a commit; the parser has the same."""
SPOKEN_OPTIONS: Final = ("-C", "--directory", "--json")
"""Those that may stand beside another command in everyday words."""
_SPOKEN = ("commit", "bisect", "when ", "change", "undo", "redo", "revert", "back")
_NO_COMMIT = {"--commit", "--dry-run"}
_GIT_WORDS = ("commit", "git", "version control")


def with_command(argv: Sequence[str], *, commands: Collection[str], app_options: Collection[str]) -> list[str]:
    """The arguments with their command first.

    Args:
        commands: names of all commands.
        app_options: options that belong to no command (`--help`, `--install-completion`).

    Raises:
        UsageError: the first of two words at most is nearly the name of a command.

    Returns:
        `argv` with the command in front; unchanged if it asks for help or holds nothing at all.
    """
    place = first_word(argv)
    if place is None:
        no_task = not argv or any(item in app_options for item in argv)
        return list(argv) if no_task else [TASK_COMMAND, *argv]
    word, explicit = argv[place], "--" in argv[:place]
    if word.startswith("-") and word != "-" and not explicit:
        return [TASK_COMMAND, *argv[:place], *argv[place + 1 :], "--", word]
    options = {item.partition("=")[0] for item in argv if item.startswith("-")}
    said = word if " " in word else "" if options else " ".join(argv)
    may_wish = options.issubset(COMMIT_OPTIONS) and any(each in said.lower() for each in _GIT_WORDS)
    if may_wish and (wish := cli.commit_words.commit_wish(said)):
        return [*wish, *([*argv[:place], *argv[place + 1 :]] if options else [])]
    may_wish = options.issubset(SPOKEN_OPTIONS) and " " in said and any(each in said.lower() for each in _SPOKEN)
    if may_wish and not _is_given_text() and (spoken := cli.spoken_commands.spoken_command(said)):
        return [*spoken, *([*argv[:place], *argv[place + 1 :]] if options else [])]
    if word in commands and not explicit:
        if "--continue" in argv[:place] and word != TASK_COMMAND:
            raise UsageError(f"--continue goes with a task, not with `{word}`", remedy=f"Run `codur {word}`.")
        return [word, *argv[:place], *argv[place + 1 :]]
    task = cli.commit_words.task_to_commit(said) if "commit" in said and options.isdisjoint(_NO_COMMIT) else ""
    if task and not explicit:
        return [TASK_COMMAND, "--commit", *([*argv[:place], task, *argv[place + 1 :]] if " " in word else [task])]
    # What is quoted is a sentence; to look at it closely would load difflib, a fiftieth of a start.
    if not explicit and len(argv) <= FEW_WORDS and " " not in word:
        near = difflib.get_close_matches(word, commands, n=1, cutoff=0.8)
        if near:
            raise UsageError(
                f"there is no command {word!r}; did you mean {near[0]}?",
                remedy=f'To give it as a task: codur run "{word} …"',
            )
    return [TASK_COMMAND, *argv]


def _is_given_text() -> bool:
    """Whether a text may come with the words, which are then about that."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _is_sentence(item: str) -> bool:
    """Whether what begins as an option is a task: "--config should also take a pyproject.toml"."""
    begins, *rest = item.split()
    joined = begins[:2] in VALUE_OPTIONS and len(begins) > 2  # "-C/my two directories"
    return len(rest) > 1 and "=" not in begins and not joined


def first_word(argv: Sequence[str]) -> int | None:
    """Index of the first argument that is neither an option nor an option's value; None if there is none."""
    skip = False
    for index, item in enumerate(argv):
        if skip:
            skip = False
        elif item == "--":
            return index + 1 if index + 1 < len(argv) else None
        elif item.startswith("-") and item != "-" and not _is_sentence(item):
            skip = item in VALUE_OPTIONS
        else:
            return index
    return None
