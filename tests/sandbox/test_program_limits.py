from __future__ import annotations

import os
import resource

from codur.config.settings import SandboxSettings
from codur.sandbox.process.process_result import status_of_shell
from codur.sandbox.program_limits import limits_of, resource_limits
from codur.sandbox.program_policy import Limits

MIB = 1_048_576


def test_limits_of_the_settings() -> None:
    limits = limits_of(SandboxSettings(memory_mb=100, processes=10, file_mb=2), 7.5)
    assert limits == Limits(
        wall_s=7.5,
        cpu_s=12 * (os.cpu_count() or 1),
        memory_bytes=100 * MIB,
        processes=10,
        file_bytes=2 * MIB,
        open_files=4096,
    )


def test_what_the_kernel_enforces() -> None:
    limits = Limits(cpu_s=3, memory_bytes=100 * MIB, processes=10, file_bytes=5, open_files=6)
    assert {which: (soft, hard) for which, soft, hard in resource_limits(limits)} == {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (5, 5),
        resource.RLIMIT_CPU: (3, 4),
        resource.RLIMIT_NOFILE: (6, 6),
        resource.RLIMIT_DATA: (180 * MIB, 180 * MIB),
    }


def test_nothing_is_bounded_that_has_no_bound() -> None:
    assert resource_limits(Limits()) == [(resource.RLIMIT_CORE, 0, 0)]


def test_statuses_of_a_shell() -> None:
    assert [status_of_shell(status) for status in (None, 0, 1, 127, 128, 137, 139, 143, 255, -9)] == [
        *(None, 0, 1, 127, 128),
        *(-9, -11, -15, 255, -9),
    ]
