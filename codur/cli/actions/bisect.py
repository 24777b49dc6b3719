"""What `codur bisect` does with what it was given."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.cli import machine
from codur.cli.printing import say_found
from codur.session.commit_search import Bisection, Step, Wanted, bisect, steps_left
from codur.types import EXIT_CODES
from codur.ui.output_formats import show
from codur.ui.styled_lines import Line, block, count, line

_SIGNS = {"passes": "✔", "fails": "✘", "cannot be tested": "-"}


def find_commit(
    directory: Path, wanted: Wanted, *, config: Path | None, overrides: Mapping[str, Any], json: bool
) -> int:
    """Find the commit that made the check fail, and show it; gives 0, 1 if it was not found, 4 if the time was up."""
    settings = machine.settings_for(machine.existing(directory), config, overrides).settings
    tell = (lambda _: None) if json else _show_step
    found = bisect(directory, settings, wanted, host=machine.host(), tell=tell)
    code = EXIT_CODES[found.outcome]
    say_found({**to_builtins(found), "exit_code": code}, (item.text for item in _lines(found)), as_json=json)
    return code


def _show_step(step: Step) -> None:
    name = step.commit[:10] or "the files as they are"
    left = f"; about {count(steps_left(step), 'step')} left" if steps_left(step) else ""
    tests = {"": "", "present": ", with the present tests", "own": ", with its own tests"}[step.tests]
    why = f" ({step.told})" if step.word == "cannot be tested" else ""
    show(line(f"{_SIGNS[step.word]} {name}: {step.word}{why}{tests}, {step.seconds:.1f} s{left}").text, sys.stderr)


def _lines(found: Bisection) -> list[Line]:
    lines = [line(found.reason)]
    if found.commit is not None:
        lines.append(line(f"    {found.commit.subject}"))
        lines.append(line(f"    {found.commit.author}, {found.commit.date}"))
        lines += block(found.stat, prefix="    ")
    lines += [line(f"    or: {suspect}") for suspect in found.suspects]
    if any(step.tests == "present" for step in found.steps):
        lines.append(line("The tests are newer than some of these commits; the present ones judged them."))
    return [*lines, *([line(found.remedy)] if found.remedy else [])]
