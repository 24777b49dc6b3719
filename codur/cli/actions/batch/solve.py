"""What `codur solve` does with what it was given."""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import datetime
from functools import partial
from pathlib import Path
from secrets import token_hex

from msgspec import structs

from codur.batch.batch_run import EngineOf, Output, done_before, solve_batch
from codur.batch.dataset import read_dataset
from codur.batch.discovery import Found, search
from codur.batch.engines.ray_engine import Cluster, RayEngine
from codur.batch.engines.worker_supervisor import Supervisor
from codur.batch.results.earlier import GOES_ON, Mode
from codur.batch.results.kept_files import Keys
from codur.batch.results.results_directory import has_results, new_directory, newest
from codur.batch.setup import Keeping, Place, Setup
from codur.batch.work import Work, work_of
from codur.batch.worker.attempt import require_sandbox
from codur.cli import machine
from codur.cli.actions.batch.solve_display import display_of, show_batch, show_list, show_note
from codur.cli.actions.batch.solve_request import SolveRequest
from codur.errors import UsageError
from codur.parsing.bounded_text import listed
from codur.session.host import limits_of

_NAMED = 8  # directories in which nothing says what is right


def mode_of(*, resume: bool, rerun_failed: bool, fresh: bool) -> Mode:
    """What becomes of earlier results."""
    given: dict[Mode, bool] = {"resume": resume, "rerun_failed": rerun_failed, "fresh": fresh}
    chosen = [mode for mode, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise UsageError("--resume, --rerun-failed and --fresh exclude each other", remedy="Give one of them.")
    return chosen[0] if chosen else "new"


def solve_challenges(request: SolveRequest) -> int:
    """Solve challenges and show the table, also of a batch that is interrupted.

    Returns:
        0 if all were solved, 1 if not, 4 if the budget ended it, 130 or 143 after an interrupt.
    """
    settings = machine.settings_for(None, request.config, request.overrides(), agents=request.agent).settings
    if request.yes:
        settings = structs.replace(settings, planning=structs.replace(settings.planning, approval="never", approve=()))
    if request.dataset:
        found = Found(challenges=read_dataset(request.dataset, request.directories))
    else:
        found = search(request.directories)
    if found.passed_over:
        names = listed(found.passed_over, _NAMED)
        show_note(f"passed over, as nothing there says what is right: {names}; to have one tried, name it")
    work = work_of(
        found.challenges,
        agents=request.agent,
        attempts=request.attempts,
        patterns=request.only,
        limit=request.limit,
    )
    if request.engine == "local" and (request.address or request.resource):
        raise UsageError("--address and --resource are for --engine ray", remedy="Add --engine ray, or leave them out.")
    if request.in_place and (len(request.agent) > 1 or request.attempts > 1):
        raise UsageError("--in-place takes one attempt with one agent", remedy="Leave one of the options out.")
    host = machine.host()
    setup = Setup(
        settings=settings,
        limits=limits_of(settings),
        place=Place.of(host),
        offline=request.offline,
        jobs=min(request.jobs or (0 if request.address else processors()), len(work)),
        processors=processors(),
        max_tokens=request.max_tokens,
        max_cost_usd=request.budget,
        in_place=request.in_place,
        keeping=Keeping(exchange=request.record, log=settings.runtime.debug_log, prompts=request.show_prompts),
    )
    if request.list_only:
        results = _results(request, work)
        goes_on = request.mode in GOES_ON and has_results(results)
        done = done_before(work, results, setup, Keys.of_batch(setup), request.mode).ended if goes_on else {}
        return show_list(work, done, json=request.json)
    if not request.no_sandbox and request.engine == "local":
        require_sandbox(settings, host)
    results = _results(request, work)
    if request.mode in GOES_ON and not has_results(results):
        show_note("there are no earlier results to go on with: all of it is done")
    if any(item.challenge.check for item in work):
        show_note("the dataset's lists of tests decide, so these predictions were made with knowledge of them")
    display = display_of(request)
    try:
        junit = Path.cwd() / request.junit if request.junit else None
        output = Output(results=results, mode=request.mode, junit=junit, engine=_engine(request))
        # Ray tells of lost machines on standard output, where the batch's result alone belongs.
        with redirect_stdout(sys.stderr):
            batch = solve_batch(work, setup, output, watch=display)
    finally:
        display.close()
    show_batch(batch, work, results, request)
    return batch.code


def _engine(request: SolveRequest) -> EngineOf:
    if request.engine == "local":
        return Supervisor
    resources = {"num_cpus": 1.0, **dict(map(_resource, request.resource))}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would tell its makers of each cluster
    if request.address:
        os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "1")  # of 41 s each, where something else answers
    else:
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # as on those, it then stays on loopback
        if not {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys():
            # Else Ray would put one into the user's home.
            os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex(32)}
    cluster = Cluster(
        host=machine.host, address=request.address, resources=resources, needs_sandbox=not request.no_sandbox
    )
    return partial(RayEngine, cluster=cluster)


def _resource(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise UsageError(f"--resource {text}: must be NAME=NUMBER", remedy="For example --resource agent=1.") from None


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _results(request: SolveRequest, work: Sequence[Work]) -> Path:
    """The directory of results, absolute."""
    here = Path.cwd()
    if request.results is not None:
        path = here / request.results
        real = path.resolve()
        inside = next((item for item in work if real.is_relative_to(item.challenge.directory)), None)
        if inside is not None:
            raise UsageError(
                f"the results directory {request.results} is inside the challenge {inside.challenge.name}",
                remedy="Name one outside of it with --results.",
            )
        return path
    earlier = newest(here) if request.mode in GOES_ON else None
    return earlier or new_directory(here, datetime.now())
