"""Whether a challenge can be solved and judged: its task, its check, red, and red in the same way each time."""

from pathlib import Path

from codur.batch.challenge_directory import DEFAULT_PROMPT, PROMPT_FILE, Challenge
from codur.batch.worker.copying import copy_files
from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.describe import verdict_line
from codur.config.settings import Settings
from codur.errors import CodurError, Interrupted, may_not_run, reason_of
from codur.planning.patterns.decide import decide
from codur.python.interpreter import find_python
from codur.sandbox.launcher import Launcher
from codur.sandbox.scratch import private_directory, temporary_base
from codur.session.host import Host
from codur.structs import Struct, replace
from codur.types import Check, Task, Verdict
from codur.workspace.workspace import Workspace

_NO_PROGRAM = 127


class Soundness(Struct):
    """What was found out about a challenge."""

    name: str
    directory: str
    own_task: bool = False  # it has a task of its own; else the general one applies
    check: str = ""  # the check's command as a person would type it; empty if none was found
    source: str = ""  # why it is that check
    before: str = ""  # the verdict's status before anything is changed; empty if the check was not run
    told: str = ""  # that verdict in a line
    alike: bool | None = None  # two runs ended alike; None if it was not run twice
    seconds: float = 0.0  # wall time of the first run
    limit_s: float = 0.0  # seconds that a run may take; 0 if there is no check
    timed_out: bool = False  # a run was stopped at that limit
    problems: tuple[str, ...] = ()  # what keeps it from being a challenge, a line each
    notes: tuple[str, ...] = ()  # what its author may want to know, a line each

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems


def examine(challenge: Challenge, settings: Settings, *, host: Host) -> Soundness:
    """Run a challenge's check twice, in a copy; the challenge itself is not touched.

    Raises:
        Interrupted: the user stopped it.
        KeyboardInterrupt: so did a signal.
    """
    found = Soundness(name=challenge.name, directory=str(challenge.directory))
    if challenge.problem:
        return replace(found, problems=(challenge.problem,))
    try:
        prompt = challenge.prompt()
        own_task = prompt != DEFAULT_PROMPT and (challenge.directory / PROMPT_FILE).exists()
        found = replace(found, own_task=own_task)
        with private_directory(temporary_base(host.environ)) as temporary:
            copy = Path(temporary) / challenge.directory.resolve().name
            left_out = copy_files(challenge, copy)
            found = _checked(found, prompt, copy, settings, host)
    except Interrupted:
        raise
    except CodurError as error:
        return replace(found, problems=(*found.problems, error.message))
    except OSError as error:
        return replace(found, problems=(*found.problems, f"cannot be copied: {reason_of(error)}"))
    notes = [] if found.own_task else [f"no task of its own ({PROMPT_FILE}); the general one applies"]
    notes += [f"{path}: left out: not a regular file" for path in left_out]
    return replace(found, notes=(*notes, *found.notes))


def _checked(found: Soundness, prompt: str, copy: Path, settings: Settings, host: Host) -> Soundness:
    workspace = Workspace.open(copy, max_file_bytes=settings.tools.max_file_kb * 1024)
    task = Task(prompt=prompt, workspace=str(copy), check_is_goal=True)
    check = decide(task, workspace, settings=settings).discovery.check
    if check is None or check.kind == "syntax":
        why = "no check was found: no expected output, no tests, no command in challenge.yaml"
        return replace(found, problems=(why,))
    found = replace(found, check=check.label, source=check.source, limit_s=check.timeout_s)
    first, second = _two_runs(check, workspace, settings, host)
    found = replace(
        found,
        before=first.status,
        told=verdict_line(first),
        alike=_same(first, second),
        seconds=round(first.duration_s, 3),
        timed_out=first.timed_out or second.timed_out,
    )
    note = f"a run was stopped after {found.limit_s:g} s; `timeout` in challenge.yaml sets that time"
    notes = (note,) if found.timed_out else ()
    problems = []
    if first.exit_status == _NO_PROGRAM and first.status == "failed":
        problems.append(f"its check cannot be run: {found.told}")
    elif first.passed:
        problems.append("its check passes already, so it cannot show whether anything is solved")
    elif first.status != "failed":
        problems.append(f"its check says nothing: {found.told}")
    if not found.alike:
        problems.append(f"two runs of its check differ: {_told_apart(first, second)}")
    return replace(found, problems=tuple(problems), notes=notes)


def _two_runs(check: Check, workspace: Workspace, settings: Settings, host: Host) -> tuple[Verdict, Verdict]:
    if not settings.tools.allow_run:
        raise may_not_run()
    python = find_python(workspace.root, host.environ)
    with Launcher(
        host.environ,
        max_output_bytes=settings.verification.max_output_kb * 1024,
        python=python,
        sandbox=settings.sandbox,
        state_cache=host.cache,
    ) as launcher:
        checker = Checker(workspace, settings.verification, CheckPrograms(workspace, launcher, python=python))
        checker.guard(check)
        return checker.run(check), checker.run(check)


def _same(first: Verdict, second: Verdict) -> bool:
    def known(verdict: Verdict) -> tuple[object, ...]:
        output = () if verdict.timed_out else (verdict.actual, verdict.exit_status)  # cut off at no certain place
        return (verdict.status, verdict.signature, verdict.tests_passed, verdict.tests_total, *output)

    return known(first) == known(second)


def _told_apart(first: Verdict, second: Verdict) -> str:
    one, two = verdict_line(first), verdict_line(second)
    return "what the program prints changes" if one == two else f"{one}; then {two}"
