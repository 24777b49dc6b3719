"""What programs print and write now, as the check of a change that is to leave it so, where there are no tests.

A characterization test (M. Feathers, Working Effectively with Legacy Code, 2004, chapter 13), of whole programs. They
run in copies of the workspace alone: such programs write real files.
"""

import os
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from posixpath import splitext
from stat import S_ISREG, S_IWUSR
from typing import Protocol

from codur.checks import entry, stated_output
from codur.checks.check_programs import CheckPrograms
from codur.checks.compare import around, first_difference, lines_of
from codur.checks.describe import TRACEBACK, headline
from codur.checks.programs.native_build import COMMAND, NativeBuild
from codur.checks.signature import signature_of
from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.python.test_command import PYTHON
from codur.redaction import REDACTED
from codur.structs import replace
from codur.types import VARIES, Check, Difference, ProgramRun, Verdict
from codur.workspace.workspace import Workspace

_MOST_PROGRAMS, _NAMED, _FEW_LINES = 8, 3, 3
_LONGEST_S, _LEAST_S, _SLOWER = 30.0, 10.0, 3  # a first run, what a later one may take at least, and by how much longer
_SHARE, _TIMED_SHARE = 0.05, 0.2  # of the time left, which one of the first runs may take
_ALL_SHARE = 0.5  # of that, after which no further program is run
_OUTPUT_BYTES, _FILE_BYTES, _WRITTEN_BYTES, _SHOWN_CHARS = 262_144, 65_536, 524_288, 2_000
_DATABASE = b"SQLite format 3\0"
_AGAIN, _NEAR = 2, 2
"""More runs of one that takes longer than it may, but less than so many times as long: a machine may be busy."""
_FASTER, _WORTH_TELLING_S = 2, 0.5  # so many times, and by how much at least, to be no chance
_USAGE = regex(
    r"(?:\bcat[ \t]+([\w./-]+)[ \t]*\|[ \t]*)?\bpython3?[ \t]+(?:\./)?([\w./-]+\.py)\b"
    r"([^`\n#|<>;&$*(){}\[\]]*)(?:<[ \t]*([\w./-]+))?"
)
_SERVES = regex(
    r"\.(?:run_forever|serve_forever|mainloop|run_polling)\(|\bapp\.run\(|\buvicorn\.run\(|\binput\(|\.listen\("
)
"""A program that waits for somebody."""
_READS = regex(r"\bsys\.stdin\b|\bfileinput\b|/dev/stdin")
_MAY_NAME_PATHS = frozenset({".py", ".sh", ".sql", ".json", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".txt"})
_NAME = regex(r"\b[A-Za-z]\w*_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*")
"""A name that is no everyday word."""
_TOLD_TIME = regex(r"\d ?(?:[munµ]?s(?:ecs?)?|seconds?|min(?:utes?)?)\b|\b(?:[Tt]ook|[Ee]lapsed|[Tt]ime)\b")
_NUMBER, _NEARLY, _UNITS = regex(r"\d+(?:\.\d+)?"), 0.2, (1, 60, 1e-3, 1e-6)
"""What a program says of how long it takes, which is about as long as it took."""
_BY_ITSELF = frozenset({"__pycache__"})


class Judge(Protocol):
    """What runs the programs of a workspace, or of a copy: a `Checker`."""

    workspace: Workspace
    programs: CheckPrograms
    allow_run: bool
    native: NativeBuild

    def on(self, workspace: Workspace) -> "Judge":
        """The same for a copy of the workspace."""


def find(
    judge: Judge,
    files: Sequence[str],
    prompt: str,
    time_left_s: float,
    tell: Callable[[str], None],
    limit: Check | None = None,
) -> tuple[Check | None, str]:
    """The check that programs print and write what they do now.

    Args:
        files: what the task is about, the programs themselves or modules that they import; empty for all programs.
        tell: is told each command before it is run.
        limit: the check of one program that is to take less time, which is the only one then. Where it has tests
            beside it, these tell whether it does the same, so that its time alone is something.

    Returns:
        It, and which programs are not compared and why. None if none of them ends well, and alike in two runs, and
        tells anything; or if nothing contains it.
    """
    if not judge.allow_run:
        return None, ""
    if judge.programs.launcher.name == "none":
        return None, "without a sandbox no program is run for that"
    limit_s = _TIMED_SHARE * time_left_s if limit else min(_LONGEST_S, _SHARE * time_left_s)
    runs: dict[str, ProgramRun] = {}
    reasons: dict[str, str] = {}
    began = time.monotonic()
    for program in [ProgramRun(argv=limit.argv)] if limit else _programs(judge, files, prompt):
        path, late = program.argv[1], time.monotonic() - began > _ALL_SHARE * limit_s
        if path in runs:
            continue
        text = entry.text_of(judge.workspace, path)
        if _SERVES.search(text):
            run, reason = None, f"`{_label(program)}` waits for somebody"
        elif _READS.search(text) and program.stdin_file is None:
            run, reason = None, f"`{_label(program)}` reads what nobody says (say it: `python {path} < FILE`)"
        elif len(runs) == _MOST_PROGRAMS or late:
            run, reason = None, f"`{_label(program)}`, {'as the others take long' if late else 'one of many'}"
        else:
            tell(_label(program))
            run, reason = _steady(judge, program, limit_s, limit)
        if run is not None:
            runs[path] = run
        reasons[path] = reason
    left = listed(list(filter(None, reasons.values())), _NAMED)
    if not runs:
        return None, left
    first, *_ = kept = tuple(runs.values())
    check = limit or Check(
        kind="kept_output",
        argv=first.argv,
        stdin_file=first.stdin_file,
        may_differ=True,
        source="there are no tests, so what it prints and writes is compared",
    )
    timeout_s = max(_LEAST_S, *(_SLOWER * (check.within_s or run.duration_s) for run in kept))
    may_differ = check.may_differ and not stated_output.demands_same_output(prompt)
    return replace(check, beside=None, runs=kept, timeout_s=timeout_s, may_differ=may_differ), left


def verdict_on(check: Check, judge: Judge) -> Verdict:
    """Whether the programs of such a check still print and write what they did. Raises as `Checker.run`."""
    duration_s = 0.0
    # One that was moved or deleted prints nothing more, and that it should is nothing that anybody said.
    runs = [run for run in check.runs if judge.workspace.is_file(run.argv[1])]
    if not runs:
        note = "the programs that were to be compared are gone"
        return Verdict(status="no_check", check=check.label, note=note, sandbox=judge.programs.launcher.name)
    check = replace(check, runs=tuple(runs))
    for number, before in enumerate(runs):
        now, failed = _once(judge, before, check.timeout_s)
        for _ in range(_AGAIN):
            if failed is None and check.within_s < now.duration_s <= _NEAR * check.within_s:
                now, failed = _once(judge, before, check.timeout_s)
        duration_s += now.duration_s
        is_late = 0 < check.within_s < now.duration_s
        verdict = failed or (too_slow(check, now) if is_late else _compared(before, now))
        # A crash is what nobody asks for; another use of the program may be.
        crash = failed is not None and (failed.timed_out or (TRACEBACK in failed.error and "argv" not in failed.error))
        silent = before.output.strip() and not now.output.strip()
        wrong = crash or is_late or (check.within_s and (failed or silent))  # one that ends so is not measured
        if verdict is not None and not wrong and check.may_differ:
            what = _ended(before, failed) if failed is not None else verdict.error
            shown = verdict.expected or around(before.output, 1, limit=_SHOWN_CHARS) or "(nothing)"
            verdict = replace(verdict, status="no_check", note=what, expected=shown)
        if verdict is not None:
            told = as_before(check, judge)
            progress = verdict.progress or number / len(runs)
            return replace(verdict, check=told.check, sandbox=told.sandbox, progress=progress, duration_s=duration_s)
    earlier_s = sum(run.duration_s for run in runs)
    short_s, long_s = sorted((duration_s, earlier_s))
    telling = long_s - short_s >= _WORTH_TELLING_S and long_s >= _FASTER * short_s
    took = f"; {duration_s:.1f} s, before {earlier_s:.1f} s" if telling else ""
    note = too_slow(check, now).error if check.within_s else f"the same is {what_of(check)}{took}"
    return replace(as_before(check, judge), note=note, duration_s=duration_s)


def too_slow(check: Check, run: ProgramRun) -> Verdict:
    """The verdict on a run that takes longer than the check allows."""
    took = f"it takes {run.duration_s:.2f} s, {check.within_s:g} s are allowed"
    took += "; what it prints is not compared" if check.runs and check.runs[0].output == VARIES else ""
    progress = check.within_s / run.duration_s
    return Verdict(status="failed", check=check.label, error=took, signature="too slow", progress=progress)


def as_before(check: Check, judge: Judge) -> Verdict:
    """The verdict on programs that nobody has changed."""
    sandbox = judge.programs.launcher.name
    return Verdict(status="passed", check=check.label, exit_status=0, progress=1.0, sandbox=sandbox)


def what_of(check: Check) -> str:
    """What is compared, in words: `printed, and written to out.csv`."""
    written = [path for run in check.runs for path, _ in run.written]
    prints = any(run.output.strip() for run in check.runs)
    printed = f"printed{_but_for(run.output for run in check.runs)}"
    texts = (text for run in check.runs for _, text in run.written)
    into = f"written to {listed(written, _NAMED)}{_but_for(texts)}"
    return ", and ".join([*([printed] if prints else []), *([into] if written else [])])


def _but_for(texts: Iterable[str]) -> str:
    varying = sum(text.count(VARIES) for text in texts)
    line = "1 line that differs" if varying == 1 else f"{varying} lines that differ"
    return f" but for {line} each time" if varying else ""


# --- which programs ---------------------------------------------------------------------------------------------------


def _programs(judge: Judge, files: Sequence[str], prompt: str) -> Iterator[ProgramRun]:
    """Commands of the programs that are meant, or that import what is; those that the task names first."""
    workspace = judge.workspace
    paths = [path for path in workspace.list_files(pattern="*.py") if entry.may_be_program(path)][: entry.MAX_PARSED]
    modules = {path: entry.look(workspace, path) for path in paths}
    names = set(_NAME.findall(prompt))
    told = (path for path in paths if not names.isdisjoint(_NAME.findall(entry.text_of(workspace, path))))
    meant = {path for path in files if path.endswith(".py")} or set(told)
    reach = set(meant or paths)
    while more := {
        path for path, module in modules.items() if path not in reach and not reach.isdisjoint(module.imports)
    }:
        reach |= more
    readme = next((path for path in workspace.list_files() if path.casefold().startswith("readme")), "")
    said = f"{prompt}\n{entry.text_of(workspace, readme) if readme else ''}"
    usages = [(path, words, given or piped) for piped, path, words, given in _USAGE.findall(said)]
    scripts = [path for path in paths if path in reach and modules[path].script]
    for path in sorted(scripts, key=lambda path: (path not in meant, path.count("/"), path)):
        for of, words, given in [*usages, (path, "", "")]:
            if of == path and (not given or workspace.is_file(given)):
                yield ProgramRun(argv=(PYTHON, path, *_arguments(words)), stdin_file=given or None)


def _arguments(words: str) -> list[str]:
    """The words of a command line; none of a sentence."""
    try:
        return [] if words.rstrip().endswith(".") else shlex.split(words)
    except ValueError:
        return []


# --- one run ----------------------------------------------------------------------------------------------------------


def _steady(judge: Judge, program: ProgramRun, limit_s: float, limit: Check | None) -> tuple[ProgramRun | None, str]:
    """What two runs of a program have in common; or None, and why nothing can be compared."""
    label = _label(program)
    try:
        first, failed = _once(judge, program, limit_s)
        ends = failed or (limit and first.duration_s <= limit.within_s)
        # With other seeds, so that an order which only they make is seen to vary.
        second, failed = (first, failed) if ends else _once(judge, program, limit_s, seed="1")
    except WorkspaceError as error:  # too large to copy
        return None, error.message
    duration_s = min(first.duration_s, second.duration_s)
    unlike = replace(first, output=VARIES if first.output.strip() else "", written=())
    alone = unlike if limit and limit.beside and limit_s > limit.within_s else None
    if failed is not None and failed.timed_out:
        return alone, f"`{label}` takes longer than {limit_s:.0f} s"
    if failed is not None:
        return None, _ended(program, failed)
    if limit and duration_s <= limit.within_s:
        return None, f"`{label}` takes no more than {limit.within_s:g} s already"
    took = first.duration_s if limit else 0.0
    output, again = _common(first.output, second.output, took), dict(second.written)
    if output is None:
        return alone, f"what `{label}` prints differs from run to run"
    common = {path: _common(text, again[path], took) for path, text in first.written if path in again}
    written = tuple((path, text) for path, text in common.items() if text is not None)
    if not written and not output.replace(VARIES, "").strip():
        return alone, f"`{label}` prints and writes nothing that is the same in each run"
    differing = [path for path, _ in first.written if common.get(path) is None]
    left = f"{listed(differing, _NAMED)} of `{label}`, which differ from run to run" if differing else ""
    return replace(first, output=output, written=written, duration_s=duration_s), left


def _common(one: str, other: str, took: float) -> str | None:
    """A text in which lines that differ from run to run, or tell the time, are marked; None if it has other lines."""
    lines, again, clock = lines_of(one), lines_of(other), _clock()
    if len(lines) != len(again):
        return None
    pairs = zip(lines, again, strict=True)
    return "\n".join(
        VARIES if line != more or clock.search(line) or _tells(line, took) else line for line, more in pairs
    )


def _tells(line: str, took: float) -> bool:
    """Whether a line says how long the run took, if that is asked for."""
    numbers = map(float, _NUMBER.findall(line)) if took and _TOLD_TIME.search(line) else ()
    return any(abs(number * unit - took) <= _NEARLY * took for number in numbers for unit in _UNITS)


def _clock() -> re.Pattern[str]:
    """What tells the present time, as a run in the next minute tells another."""
    now = time.time()
    told = {
        time.strftime(form, of(moment))
        for moment in (now, now - 60)
        for of in (time.localtime, time.gmtime)
        for form in ("%H:%M", "%I:%M", "%Y%m%d-%H%M", "%Y%m%d_%H%M", "%Y%m%dT%H%M", "%Y%m%d%H%M")  # 1519 may be a sum
    }
    return re.compile(rf"(?<!\d)(?:{'|'.join(sorted(told))}|{str(int(now))[:6]}\d{{4}})")


def _once(judge: Judge, program: ProgramRun, limit_s: float, *, seed: str = "0") -> tuple[ProgramRun, Verdict | None]:
    """What a program does in a copy, and the verdict if it does not end well; by the `seed` sets are in order."""
    root = judge.workspace.root
    with judge.programs.launcher.temporary_directory() as temporary:
        copy = judge.workspace.scratch_copy(temporary / root.name)
        _lead_to(copy, root)
        there = judge.on(copy)
        built = judge.native.built(copy, there.programs) if judge.native.is_changed(judge.workspace) else None
        if built is not None and built.error:
            return program, Verdict(
                status="failed", check=COMMAND, error=built.error, signature=f"build: {built.error}"
            )
        before = _stamps(copy.root)
        env = (("PYTHONHASHSEED", seed),)
        check = Check(kind="command", argv=program.argv, env=env, timeout_s=limit_s, source="kept output")
        stdin = copy.read_bytes(program.stdin_file) if program.stdin_file else b""
        result = there.programs.run(check, program.argv, stdin=stdin, output_bytes=_OUTPUT_BYTES)
        written = tuple(_written(copy, before))
        output, said = (text.replace(f"{copy.root}/", "") for text in (result.stdout, result.stderr))
    run = replace(program, output=output, written=written, duration_s=result.duration_s)
    if result.exit_status == 0 and not result.truncated:
        return run, None
    said = f"more than {_OUTPUT_BYTES >> 10} KiB are printed" if result.truncated else said
    status = result.exit_status
    return run, Verdict(
        status="failed",
        exit_status=status,
        timed_out=result.timed_out,
        error=said[-_SHOWN_CHARS:].strip(),
        signature=signature_of(kind="output", exit_status="timeout" if result.timed_out else status, error=said),
    )


def _lead_to(copy: Workspace, root: Path) -> None:
    """Have programs that name their directory by its whole path mean the copy."""
    here, there = re.compile(re.escape(str(root).encode()) + rb"(?![\w.-])"), str(copy.root).encode()
    for path in copy.list_files():
        place = copy.root / path
        if splitext(path)[1] in _MAY_NAME_PATHS and place.stat().st_size <= _OUTPUT_BYTES:
            text, times = here.subn(there, place.read_bytes())
            if times:
                place.chmod(place.stat().st_mode | S_IWUSR)
                place.write_bytes(text)


def _ended(program: ProgramRun, failed: Verdict) -> str:
    return f"`{_label(program)}` ends with status {failed.exit_status}: {headline(failed.error)}".rstrip(": ")


def _label(program: ProgramRun) -> str:
    return Check(kind="command", argv=program.argv, stdin_file=program.stdin_file, source="").label


def _stamps(root: Path) -> dict[str, tuple[int, int, int]]:
    """Size, time and inode of each regular file below a directory; no link is followed."""
    found = {}
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name not in _BY_ITSELF]
        for place in (Path(directory, name) for name in files):
            with suppress(OSError):  # a program may have shut a directory
                status = place.lstat()
                if S_ISREG(status.st_mode):
                    path = place.relative_to(root).as_posix()
                    found[path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


def _written(copy: Workspace, before: Mapping[str, tuple[int, int, int]]) -> Iterator[tuple[str, str]]:
    """The files that are new, changed or gone, and what is in them; of what may hold secrets no text."""
    root = copy.root
    after, room = _stamps(root), _WRITTEN_BYTES
    for path in sorted({*before, *after}):
        if path not in after:
            yield path, "deleted"
        elif before.get(path) != after[path]:
            limit = 0 if copy.withholds(path) else min(_FILE_BYTES, room)
            text = _content(root / path, limit).replace(f"{root}/", "")
            room -= len(text)
            yield path, text


def _content(path: Path, limit: int) -> str:
    """A file's text or, of a longer one or of one that is no text, its digest."""
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
            if len(data) <= limit and b"\0" not in data:
                return _decoded(data)
            if data.startswith(_DATABASE):  # the same rows may lie there in other places
                return "a database of SQLite"
            digest = sha256(data)
            while data := stream.read(_FILE_BYTES):
                digest.update(data)
    except PermissionError:
        return "not to be read"
    return f"sha256:{digest.hexdigest()}"


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


# --- compared ---------------------------------------------------------------------------------------------------------


def _compared(before: ProgramRun, now: ProgramRun) -> Verdict | None:
    """The verdict if a run prints or writes something else than before."""
    program = _label(before)
    if before.output == VARIES and not now.output.strip():
        error = f"`{program}` prints nothing, other than before"
        return Verdict(status="failed", error=error, signature=error)
    kept = before.output != VARIES and (before.output or before.written)
    if kept and (difference := _difference(before.output, now.output)):
        return _differs(f"`{program}` prints something else than before", before.output, now.output, difference)
    written: Mapping[str, str] = dict(now.written)
    for path, text in before.written:
        if path not in written:
            error = f"`{program}` does not write {path}, as it did"
            return Verdict(status="failed", error=error, signature=error)
        if difference := _difference(text, written[path]):
            return _differs(f"`{program}` writes something else to {path}", text, written[path], difference)
    return None


def _difference(wanted: str, got: str) -> Difference | None:
    kept = lines_of(wanted)
    varies = {place for place, line in enumerate(kept) if line == VARIES or REDACTED in line}
    wanted = "\n".join(VARIES if n in varies else line for n, line in enumerate(kept))  # a record has no secrets
    return first_difference(wanted, "\n".join(VARIES if n in varies else line for n, line in enumerate(lines_of(got))))


def _how_much(wanted: str, got: str) -> str:
    """How much of a long output differs, where no line was added or taken away."""
    kept, now = lines_of(wanted), lines_of(got)
    if len(kept) != len(now) or len(kept) <= _FEW_LINES:
        return ""
    others = sum(VARIES != one != other for one, other in zip(kept, now, strict=True)) - 1
    return f"; of the other {len(kept) - 1} lines {others or 'none'} differ{'s' if others == 1 or not others else ''}"


def _differs(what: str, wanted: str, got: str, difference: Difference) -> Verdict:
    # In the error and nowhere else: it says which of several outputs it is a line of.
    lines = (f"{line!r}" if line is not None else "no such line" for line in (difference.expected, difference.actual))
    error = "{}, line {}: expected {}, got {}".format(what, difference.line, *lines)
    return Verdict(
        status="failed",
        error=f"{error}{_how_much(wanted, got)}",
        expected=around(wanted, difference.line, limit=_SHOWN_CHARS),
        actual=around(got, difference.line, limit=_SHOWN_CHARS),
        signature=signature_of(kind="output", exit_status=0, error=what, difference=difference),
    )
