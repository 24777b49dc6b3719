"""What holds for every test: no connection leaves the machine, and programs that are started can be interrupted."""

from __future__ import annotations

import os
import signal
import sys
from ipaddress import ip_address
from typing import Any

import pytest

from tests.support import plain_python

SLOW = (
    "tests/adversarial/",
    "tests/agents/external/",
    "tests/batch/test_batch_run.py",
    "tests/batch/test_dataset.py::test_an_instance_becomes",
    "tests/batch/engines/test_ray_failures.py",
    "tests/batch/engines/test_worker_supervisor.py",
    "tests/challenges/",
    "tests/checks/confirmation/test_hollow.py",
    "tests/cli/test_back_ends.py",
    "tests/cli/test_beyond.py",
    "tests/cli/test_bisect.py",
    "tests/cli/test_candidates.py",
    "tests/cli/test_challenge.py",
    "tests/cli/test_cheating.py",
    "tests/cli/test_doctor.py",
    "tests/cli/test_hijack.py",
    "tests/cli/test_interrupt.py",
    "tests/cli/test_outside.py",
    "tests/cli/test_outsiders.py",
    "tests/cli/test_plan.py",
    "tests/cli/test_reach.py",
    "tests/cli/test_repair.py",
    "tests/cli/test_resume.py",
    "tests/cli/test_runs.py",
    "tests/cli/test_said.py",
    "tests/cli/test_solve.py",
    "tests/cli/test_tools.py",
    "tests/config/test_round_trip.py",
    "tests/docs/test_tutorial.py",
    "tests/mcp/test_command.py",
    "tests/mcp/test_honest.py",
    "tests/mcp/test_hostile.py",
    "tests/packaging/",
    "tests/projects/",
    "tests/python/test_pytest_equivalent.py",
    "tests/python/test_pytest_options.py",
    "tests/repair/candidates/test_candidates_kinds.py",
    "tests/repair/choice/test_ranked_repairs.py",
    "tests/repair/judge/",
    "tests/repair/suspicion/test_localise.py",
    "tests/repair/test_engine.py",
    "tests/repair/test_hints.py",
    "tests/repair/candidates/test_candidates_kinds.py",
    "tests/repair/test_engine.py",
    "tests/repair/test_inverse.py",
    "tests/repair/worker/",
    "tests/runs/test_approval.py",
    "tests/runs/test_changed_tests.py",
    "tests/runs/test_context.py",
    "tests/runs/test_done.py",
    "tests/runs/test_environment.py",
    "tests/runs/test_faults.py",
    "tests/runs/test_free_plan.py",
    "tests/runs/test_free_plan.py",
    "tests/runs/test_long_suite.py",
    "tests/runs/test_make_check.py",
    "tests/runs/test_make_check_elsewhere.py",
    "tests/runs/test_narrow_check.py",
    "tests/runs/test_plans.py",
    "tests/runs/test_replay.py",
    "tests/sandbox/test_loopback.py",
    "tests/sandbox/test_own_root.py",
    "tests/session/record/test_resume.py",
    "tests/session/test_plan_resume.py",
)
"""How the names of the slow tests begin: about four fifths of the time and a seventh of the tests."""


LONG = (
    "tests/batch/engines/test_ray_failures.py",
    "tests/cli/test_back_ends.py::test_a_repair_and_its_undoing[sockets",
    "tests/cli/test_cheating.py",
    "tests/cli/test_outsiders.py",
    "tests/repair/candidates/test_candidates_kinds.py",
    "tests/repair/choice/",
    "tests/repair/judge/",
    "tests/repair/test_engine.py",
    "tests/repair/test_inverse.py",
    "tests/repair/worker/",
    "tests/runs/",
)
"""How the names of the longest begin: one of three runs in CI, another with each commit, and all in `make test-all`."""


ALIKE = (
    "tests/batch/test_new_challenge.py",
    "tests/challenges/",
    "tests/mcp/test_command.py",
    "tests/mcp/test_honest.py",
    "tests/mcp/test_http.py",
    "tests/mcp/test_run.py",
    "tests/mcp/test_tools.py",
    "tests/sandbox/backends/",
    "tests/sandbox/process/test_channel.py",
    "tests/sandbox/starter/",
    "tests/sandbox/test_cancel.py",
    "tests/sandbox/test_containment.py",
    "tests/sandbox/test_launcher.py",
    "tests/sandbox/test_program_limits.py",
    "tests/sandbox/test_scratch.py",
    "tests/sandbox/tripwire/",
)
"""Of what `make tests-bare` runs: what has the back end that is chosen by itself, and says of none."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow tests, and two of three of the longest; leave out what was run so already."""
    if os.environ.get("CODUR_TESTED_BARE"):
        from tests.adversarial.backends import AVAILABLE

        if AVAILABLE[0] != "bubblewrap":  # so it was chosen without it, too
            again = [item for item in items if item.nodeid.startswith(ALIKE)]
            config.hook.pytest_deselected(items=again)
            items[:] = [item for item in items if not item.nodeid.startswith(ALIKE)]
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")
    third = int(os.environ.get("CODUR_COMMITS", "0")) % 3
    for name in LONG:
        for number, item in enumerate(item for item in items if item.nodeid.startswith(name)):
            if number % 3 != third:
                item.add_marker("long")


def _only_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook (PEP 578) that stops connections and look-ups that would leave the machine."""
    if event == "socket.getaddrinfo" and arguments[0] not in (None, "localhost", "127.0.0.1", "::1"):
        raise AssertionError(f"a test looks up {arguments[0]!r}; tests stay on loopback")
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        address = arguments[1][0]
        if address != "localhost" and not ip_address(address).is_loopback:
            raise AssertionError(f"a test connects to {address!r}; tests stay on loopback")


sys.addaudithook(_only_loopback)
plain_python.put_on_path()

# A shell starts what runs in the background (and `nohup` what it starts) with these ignored, and children inherit that.
# They do not inherit a handler, so this one keeps the tests running and gives the programs under test the usual start.
for _signal in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda *_: None)
