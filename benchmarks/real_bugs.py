"""How many real bugs of real projects `codur --offline` mends: the maintainers' whole suite is the judge.

Usage: python benchmarks/real_bugs.py PAIRS_DIR [--root SCRATCH] [--only ID,…] [--project NAME] [--sample N]
           [--timeout SECONDS] [--backend NAME] [--prompt TEXT] [--name-file] [--jobs N] [--json FILE] [--resume FILE]
           [--verbose]

PAIRS_DIR holds `pairs.py` and `cases.jsonl`, SCRATCH what `pairs.py` downloads and more rows (`real_bug_cases.py` makes
them). Each case is a git repository in which the command line runs as a user would start it: in the directory, with an
empty home, the project's environment first on the PATH. `--name-file` names the file of the maintainers' fix in the
prompt. `--resume` takes over the rows of an earlier `--json` and runs the rest.

A case is `solved` if the run succeeded and the whole suite accepts what it left, `wrong` if it succeeded and the suite
does not, else `none`. `≥ 200`: of the fixes in Python, the share with so many candidates judged; `or solved` counts
those too that needed fewer. Peak memory is that of the largest process.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from real_bug_cases import FEW, MORE, ONE, Pairs, Row, equal, size_class

GRACE_S = 60.0
"""A run that goes on for so long after its time is ended."""
ENOUGH = 200
"""Candidates that a search should judge."""
UNTIL_KILLED_S = 5.0


def main() -> int:
    options = _options()
    home = Path(options.pairs).resolve()
    pairs = Pairs(home=home, root=Path(options.root).resolve() if options.root else home)
    cases = _wanted(pairs.rows(), options)
    rows = _rows(options.resume)
    ids = {row["id"] for row in rows}
    if options.json:
        Path(options.json).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    todo = [case for case in cases if case["id"] not in ids]
    with ThreadPoolExecutor(options.jobs) as pool:
        for number, row in enumerate(pool.map(lambda case: _case(pairs, case, options), todo), start=1):
            rows.append(row)
            if options.json:
                with Path(options.json).open("a", encoding="utf-8") as kept:
                    kept.write(json.dumps(row) + "\n")
            print(f"{number}/{len(todo)}  {_line(row, options.verbose)}", file=sys.stderr, flush=True)
    print(_tables(rows, options.verbose))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How many real bugs of real projects the offline repair mends.")
    parser.add_argument("pairs")
    parser.add_argument("--root", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--project", default="")
    parser.add_argument("--sample", type=int, default=0, help="every n-th case, so that about N are left")
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--backend", default="")
    parser.add_argument("--prompt", default="the tests fail, fix the bug")
    parser.add_argument("--name-file", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", default="")
    parser.add_argument("--resume", default="")
    parser.add_argument("--verbose", action="store_true", help="reasons in full")
    return parser.parse_args()


def _wanted(cases: list[Row], options: argparse.Namespace) -> list[Row]:
    only = set(filter(None, options.only.split(",")))
    cases = [
        case
        for case in cases
        if (not only or case["id"] in only) and (not options.project or case["project"] == options.project)
    ]
    return cases[:: max(1, len(cases) // options.sample)] if options.sample else cases


def _rows(path: str) -> list[Row]:
    if not path or not Path(path).is_file():
        return []
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


# --- one case ---------------------------------------------------------------------------------------------------------


def _case(pairs: Pairs, case: Row, options: argparse.Namespace) -> Row:
    """One run of the command line, and its score."""
    with tempfile.TemporaryDirectory(prefix="real-bugs-") as temporary:
        project = Path(temporary, "project")
        pairs.make(case["id"], project)
        ran = _codur(project, case, options)
        left = _left(project)
        succeeded = ran["exit"] == 0
        score = pairs.score(case["id"], project) if succeeded and left else {"solved": False, "broke": []}
        ours = _texts(project, [*left, *case["source_files"]])
        _git(project, "checkout", "--quiet", "--force", ".")
        _git(project, "clean", "--quiet", "--force", "-d")
        base = _texts(project, case["source_files"])
        pairs.solve(case["id"], project)
        theirs = _texts(project, ours)
    accepted = score["solved"] and not score["broke"]
    return {
        "id": case["id"],
        "project": case["project"],
        "size": size_class(base, {path: theirs[path] for path in base}, case["source_lines"]),
        "python": all(path.endswith(".py") for path in case["source_files"]),
        **ran,
        "outcome": "none" if not succeeded else "solved" if accepted else "wrong",
        "same": bool(left) and all(equal(ours[path], theirs[path]) for path in ours),
        "left": left if not succeeded else [],
        "late": round(ran["seconds"] - options.timeout, 1),
        "too_late": ran["seconds"] > options.timeout * 1.1 + 1,
        "score": score,
    }


def _codur(project: Path, case: Row, options: argparse.Namespace) -> Row:
    """What a run said, and what it took; the stream of events tells of a search that the time limit cut off too."""
    named = f" in {' and '.join(case['source_files'])}" if options.name_file else ""
    command = [sys.executable, "-m", "codur", "--offline", options.prompt + named]
    with tempfile.TemporaryDirectory(prefix="real-bugs-") as home, tempfile.TemporaryFile("w+") as told:
        started = time.monotonic()
        process = subprocess.Popen(
            [*command, "--timeout", str(options.timeout), "--json-stream"],
            cwd=project,
            env=_environment(project, home, options.backend),
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        ending = threading.Timer(options.timeout + GRACE_S, _end, [process])
        ending.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ending.cancel()
        seconds = time.monotonic() - started
        told.seek(0)
        lines = told.read().splitlines()
    return _told(lines) | {
        "exit": process.returncode,
        "seconds": round(seconds, 1),
        "peak_mib": round(usage.ru_maxrss / 1024),
    }


def _environment(project: Path, home: str, backend: str) -> dict[str, str]:
    here = {name: os.environ[name] for name in ("PYTHONPATH", "TMPDIR") if name in os.environ}
    if backend:
        here["CODUR_SANDBOX__BACKEND"] = backend
    path = f"{project / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": home, "LANG": "C.UTF-8", **here}


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the process and its group to end, then make them."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            time.sleep(UNTIL_KILLED_S)


def _told(lines: Sequence[str]) -> Row:
    """What the events say; what is no event (a traceback) ends up as the reason."""
    events, other = [], ""
    for line in lines:
        try:
            events.append(json.loads(line))
        except ValueError:
            other = line
    result: Row = next((event["result"] for event in events if event["event"] == "run_finished"), {})
    before, repair = result.get("before") or {}, result.get("repair") or {}
    searched = [event for event in events if event["event"] == "decided" and event["node"] == "repair"]
    judged = [event["tried"] for event in events if event["event"] == "repair_progress"]
    reasons = [event["reason"] for event in searched[-1:]] if result.get("exit_code") else []
    return {
        "found": bool(before.get("check")),
        "red": before.get("status") == "failed",
        "candidates": max([0, repair.get("tried", 0), *judged]),
        "tier": repair.get("tier", "") if repair.get("patches") else "",
        "search_s": repair.get("seconds", 0.0),
        "note": repair.get("note", ""),
        "backend": result.get("sandbox", ""),
        "reason": "; ".join([*reasons, result.get("reason") or other or "no result"]),
    }


def _left(project: Path) -> list[str]:
    """Paths that are not as in the commit."""
    return sorted(entry[3:] for entry in _git(project, "status", "--porcelain", "-z", "-uall").split("\0") if entry)


def _git(project: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=project, capture_output=True, text=True, check=True).stdout


def _texts(project: Path, paths: Sequence[str] | Row) -> dict[str, str]:
    """The texts of these files; one that is not there is empty."""
    return {
        path: (project / path).read_text(encoding="utf-8", errors="replace") if (project / path).is_file() else ""
        for path in paths
    }


# --- the table --------------------------------------------------------------------------------------------------------


def _line(row: Row, verbose: bool) -> str:
    reason = row["reason"] + (f"  plain: {row['note']}" if row["note"] else "")
    reason = reason if verbose else reason[:80]
    late = f"+{row['late']:.0f}" if row["late"] > 0 else ""
    same = "same" if row["same"] else "other" if row["outcome"] != "none" else ""
    return (
        f"{row['id']:32} {row['size']:13} {_yes(row['found']):5} {_yes(row['red']):4} {row['candidates']:10,} "
        f"{row['outcome']:7} {row['tier']:13} {same:5} {row['seconds']:7.1f} {late:>5} {row['peak_mib']:5} "
        f"{'LEFT ' if row['left'] else ''}{reason}"
    )


def _tables(rows: Sequence[Row], verbose: bool) -> str:
    head = (
        f"{'case':32} {'fix':13} {'found':5} {'red':4} {'candidates':>10} {'outcome':7} {'tier':13} {'equal':5} "
        f"{'seconds':>7} {'late':>5} {'MiB':>5} reason"
    )
    each = "\n".join([head, *(_line(row, verbose) for row in rows)])
    sizes = [size for size in (ONE, FEW, MORE) if any(row["size"] == size for row in rows)]
    projects = sorted({row["project"] for row in rows})
    return "\n\n".join(
        [
            each,
            _table("project", rows, projects, lambda row: row["project"]),
            _table("fix", rows, sizes, lambda row: row["size"]),
            _table("all", rows, ["all"], lambda _: "all"),
        ]
    )


def _table(title: str, rows: Sequence[Row], names: Sequence[str], key: Callable[[Row], str]) -> str:
    head = (
        f"{title:20} {'cases':>5} {'found, red':>10} {f'≥ {ENOUGH}':>6} {'or solved':>9} {'solved':>12} "
        f"{'equal':>5} {'wrong':>5} {'deterministic':>13} {'late':>4} {'left':>4} {'median s':>8} {'MiB':>5}"
    )
    return "\n".join([head, *(_figures(name, [row for row in rows if key(row) == name]) for name in names)])


def _figures(name: str, rows: Sequence[Row]) -> str:
    solved = [row for row in rows if row["outcome"] == "solved"]
    wrong = [row for row in rows if row["outcome"] == "wrong"]
    python = [row for row in rows if row["python"]]
    enough = [row for row in python if row["candidates"] >= ENOUGH]
    ended = [row for row in python if row["candidates"] >= ENOUGH or row["outcome"] == "solved"]
    median = f"{statistics.median(row['seconds'] for row in solved):.1f}" if solved else "-"
    red = sum(row["found"] and row["red"] for row in rows)
    return (
        f"{name:20} {len(rows):5} {_share(red, len(rows)):>10} {_share(len(enough), len(python)):>6} "
        f"{_share(len(ended), len(python)):>9} "
        f"{f'{len(solved)} ({_share(len(solved), len(rows))})':>12} {sum(row['same'] for row in solved):5} "
        f"{len(wrong):5} {sum(row['tier'] == 'deterministic' for row in wrong):13} "
        f"{sum(row['too_late'] for row in rows):4} {sum(bool(row['left']) for row in rows):4} {median:>8} "
        f"{max(row['peak_mib'] for row in rows):5}"
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


if __name__ == "__main__":
    sys.exit(main())
