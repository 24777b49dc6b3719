"""A word that is no command is a task: puts `run` in front where no command was given."""

from __future__ import annotations

from collections.abc import Collection, Sequence

TASK_COMMAND = "run"


def with_command(
    argv: Sequence[str], *, commands: Collection[str], value_options: Collection[str], app_options: Collection[str]
) -> list[str]:
    """The arguments with their command first.

    Args:
        commands: names of all commands.
        value_options: options of `run` that take a value, as typed (`-C`, `--check`).
        app_options: options that belong to no command (`--help`, `--install-completion`).

    Returns:
        `argv` with the command in front; unchanged if it asks for help or holds nothing at all.
    """
    place = _first_word(argv, value_options)
    if place is None:
        no_task = not argv or any(item in app_options for item in argv)
        return list(argv) if no_task else [TASK_COMMAND, *argv]
    if argv[place] in commands and "--" not in argv[:place]:
        return [argv[place], *argv[:place], *argv[place + 1 :]]
    return [TASK_COMMAND, *argv]


def _first_word(argv: Sequence[str], value_options: Collection[str]) -> int | None:
    """Index of the first argument that is neither an option nor an option's value; None if there is none."""
    skip = False
    for index, item in enumerate(argv):
        if skip:
            skip = False
        elif item == "--":
            return index + 1 if index + 1 < len(argv) else None
        elif item.startswith("-") and item != "-":
            skip = item in value_options
        else:
            return index
    return None
