"""What `codur challenge` does with what it was given."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import to_builtins

from codur.batch.discovery import find_challenges
from codur.batch.new_challenge import make_challenge
from codur.batch.soundness import Soundness, examine
from codur.batch.worker.attempt import require_sandbox
from codur.cli import machine, options
from codur.cli.printing import say, say_json
from codur.ui.output_formats import show
from codur.ui.styled_lines import count, joined, line


def make(name: str, within: Path, *, tests: bool) -> int:
    """Make a challenge and say what to do with it."""
    directory, files = make_challenge(name, within=within, tests=tests)
    place = shlex.quote(str(directory))
    width = max(len(file) for file, _ in files)
    lines = [line(f"made {directory}, an example to replace:")]
    lines += [line(f"  {file:{width}}  {role}") for file, role in files]
    lines.append(line(f"see whether it is sound: codur challenge check {place}"))
    lines.append(line(f"solve it: codur solve {place}"))
    show(joined(lines), sys.stdout)
    return 0


def check(directories: Sequence[Path], *, config: Path | None, json: bool, no_sandbox: bool) -> int:
    """Examine challenges and show what was found out. Gives 0 if all are sound, else 1."""
    settings = machine.settings_for(None, config, options.overrides(no_sandbox=no_sandbox)).settings
    challenges = find_challenges(directories)
    host = machine.host()
    if not no_sandbox:
        require_sandbox(settings, host)
    found = []
    for challenge in challenges:
        one = examine(challenge, settings, host=host)
        found.append(one)
        if not json:
            lines = [line(f"{'✔' if one.is_sound else '✘'} {one.name}: {_words(one)}")]
            if one.check:
                lines.append(line(f"    check: {one.check} ({one.source})"))
            lines += [line(f"    problem: {problem}") for problem in one.problems]
            show(joined(lines + [line(f"    note: {note}") for note in one.notes]), sys.stdout)
    sound = sum(one.is_sound for one in found)
    if json:
        rows = [{**to_builtins(one), "sound": one.is_sound} for one in found]
        say_json({"sound": sound, "challenges": rows})
    else:
        say(f"{sound:,} of {count(len(found), 'challenge')} sound")
    return 0 if sound == len(found) else 1


def _words(one: Soundness) -> str:
    if not one.before:
        return "not a challenge yet"
    how = one.told.removeprefix("failed").strip(": ")
    before = {"failed": f"red before ({how})", "passed": "green before"}.get(one.before, f"{one.before} before")
    alike = "the same in two runs" if one.alike else "not the same in two runs"
    ends = f"stopped after {one.limit_s:g} s" if one.timed_out else f"{one.seconds:.1f} s"
    return f"{before}, {alike}, {ends}"
