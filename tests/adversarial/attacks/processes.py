"""Attacks by processes: that gain rights, outlive their run, or use up the machine. Every one is bounded by itself."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from .kit import Facts, Program, checked, library, say, system_call

_NEW_USER_NAMESPACE = 0x10000000
_MIB = 1_048_576


def p_userns(facts: Facts) -> None:
    """Become root in a new user namespace."""
    checked(library().unshare(_NEW_USER_NAMESPACE), "unshare")


def p_clone_userns(facts: Facts) -> None:
    """The same with a child of its own."""
    child = system_call("clone", 56, 220, _NEW_USER_NAMESPACE | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def p_daemon(facts: Facts) -> None:
    """Leave a process behind that has left the session."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _beat(Path(facts["heartbeat"]), 8.0)
        os._exit(0)
    time.sleep(0.15)


def _beat(path: Path, seconds: float) -> None:
    """Write the time again and again; the outputs are closed, so that nobody waits for this process."""
    for number in (0, 1, 2):
        os.close(number)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        path.write_text(str(time.monotonic_ns()))
        time.sleep(0.02)
    os._exit(0)


def p_sigterm(facts: Facts) -> None:
    """Ignore every signal that can be ignored, and go on."""
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    time.sleep(12)


def p_killout(facts: Facts) -> None:
    """Kill a process that is none of its own."""
    os.kill(facts["bystander"], signal.SIGKILL)


def p_forkbomb(facts: Facts) -> None:
    """Start processes without end; here 1,500, each for a few seconds."""
    failed = 0
    for _ in range(1500):
        try:
            if os.fork() == 0:
                time.sleep(4)
                os._exit(0)
        except OSError:
            failed += 1
            if failed > 200:
                break
            time.sleep(0.005)
    say(f"failed: {failed}")
    time.sleep(1)


def p_forkbomb_c(facts: Facts) -> None:
    """The same in C, doubling: 2,048 processes."""
    os.execv("./forkbomb", ["./forkbomb", facts["token"]])


def p_membomb(facts: Facts) -> None:
    """Fill 1.5 GB of memory."""
    _bound_memory(2048)
    held = []
    for reached in range(50, 1501, 50):
        held.append(bytearray(os.urandom(_MIB) * 50))
        Path(facts["progress"]).write_text(str(reached))
    time.sleep(0.5)


def p_membomb_tree(facts: Facts) -> None:
    """Fill 3 GB with ten children of 300 MB, none of which is large."""
    children = []
    for number in range(10):
        child = os.fork()
        if child == 0:
            _bound_memory(1024)
            held = [bytearray(os.urandom(_MIB) * 50) for _ in range(6)]
            Path(f"{facts['progress']}.{number}").write_text(str(50 * len(held)))
            time.sleep(3)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def p_membomb_files(facts: Facts) -> None:
    """Write 1.5 GB into files in memory, which no process maps."""
    for reached in range(50, 1501, 50):
        os.write(os.memfd_create("held"), os.urandom(_MIB) * 50)
        Path(facts["progress"]).write_text(str(reached))
    time.sleep(0.5)


def p_membomb_segments(facts: Facts) -> None:
    """Fill 1.5 GB of shared segments, and let go of each."""
    calls = library()
    calls.shmat.restype = ctypes.c_void_p
    segments = []
    try:
        for reached in range(1, 1501):
            segments.append(checked(calls.shmget(0, ctypes.c_size_t(_MIB), 0o1600), "shmget"))
            at = calls.shmat(segments[-1], None, 0)
            ctypes.memset(at, 1, _MIB)
            calls.shmdt(ctypes.c_void_p(at))
            Path(facts["progress"]).write_text(str(reached))
        time.sleep(0.5)
    finally:
        for segment in segments:
            calls.shmctl(segment, 0, None)


def _bound_memory(megabytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MIB, megabytes * _MIB))


def p_cpu(facts: Facts) -> None:
    """Compute for far longer than allowed."""
    end = time.monotonic() + 12
    while time.monotonic() < end:
        pass


def p_stdin(facts: Facts) -> None:
    """Wait for input; done is what waits in vain."""
    data = sys.stdin.buffer.read()
    raise RuntimeError(f"end of input after {len(data)} bytes")


def p_flood(facts: Facts) -> None:
    """Print 200 MB."""
    block = b"flood" * 13_107 + b"\n"
    for number in range(3200):
        os.write(1, block)
        if number % 64 == 0:
            Path(facts["progress"]).write_text(str(number * len(block)))
    Path(facts["progress"]).write_text(str(3200 * len(block)))


def p_bigfile(facts: Facts) -> None:
    """Make a file of 400 MB (without the blocks)."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Path("big").open("wb") as stream:
        stream.truncate(400 * _MIB)


def p_manyfd(facts: Facts) -> None:
    """Open 10,000 files at once."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for number in range(10_000):
        Path(facts["progress"]).write_text(str(number)) if number % 500 == 0 else None
        os.open("/dev/null", os.O_RDONLY)
    Path(facts["progress"]).write_text("10000")


def p_holdpipe(facts: Facts) -> None:
    """End at once, but leave a process that holds the outputs open."""
    say("the output")
    if os.fork() == 0:
        os.setsid()
        time.sleep(8)
        os._exit(0)


def p_nnp(facts: Facts) -> None:
    """Look for rights that the process has or can still gain."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    if int(fields["CapEff"], 16) == 0 and int(fields["NoNewPrivs"]) == 1:
        raise RuntimeError("no capability, and none can be gained")
    say(f"capabilities {fields['CapEff'].strip()}, no_new_privs {fields['NoNewPrivs'].strip()}")


def p_keyctl(facts: Facts) -> None:
    """Use the kernel's key store (the keyring of this process alone)."""
    kind, name, value = ctypes.c_char_p(b"user"), ctypes.c_char_p(b"codur-suite"), ctypes.c_char_p(b"x")
    system_call("add_key", 248, 217, kind, name, value, 1, -2)


def p_x32(facts: Facts) -> None:
    """Make a system call by the numbers of another table, which a filter may forget."""
    system_call("getpid", 0x40000000 + 39, None)


def run(argv: list[str]) -> str:
    """The output of a program that ends well.

    Raises:
        RuntimeError: it does not.
    """
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]}: {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


ATTACKS: dict[str, Program] = {
    "p-userns": p_userns,
    "p-clone-userns": p_clone_userns,
    "p-daemon": p_daemon,
    "p-sigterm": p_sigterm,
    "p-killout": p_killout,
    "p-forkbomb": p_forkbomb,
    "p-forkbomb-c": p_forkbomb_c,
    "p-membomb": p_membomb,
    "p-membomb-tree": p_membomb_tree,
    "p-membomb-files": p_membomb_files,
    "p-membomb-segments": p_membomb_segments,
    "p-cpu": p_cpu,
    "p-stdin": p_stdin,
    "p-flood": p_flood,
    "p-bigfile": p_bigfile,
    "p-manyfd": p_manyfd,
    "p-holdpipe": p_holdpipe,
    "p-nnp": p_nnp,
    "p-keyctl": p_keyctl,
    "p-x32": p_x32,
}
