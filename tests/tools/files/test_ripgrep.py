"""grep_files with ripgrep and without it: the same answers."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codur.config.settings import ToolSettings
from codur.sandbox.launcher import Launcher
from codur.tools.files.ripgrep import _expression, _required
from codur.tools.toolbox import Toolbox, ToolContext
from codur.workspace.workspace import Workspace

EVERY_CHARACTER = "".join(map(chr, range(sys.maxunicode + 1)))
WORDS = st.sampled_from(
    [
        "key",
        "KEY",
        "\u212aey",
        "kİs",
        "is",
        "ıs",
        "ſ",
        "s",
        "ß",
        "ä",
        "a.b",
        "a",
        " ",
        "\t",
        "coding: utf-7",
        "# coding: cp037",
    ]
)
LINES = st.lists(WORDS, max_size=4).map("".join)
FILES = st.lists(
    st.tuples(
        st.sampled_from(["utf-8", "latin-1", "utf-16", "utf-8-sig", "cp037", "iso8859-9"]),
        st.lists(LINES, max_size=3),
        st.sampled_from(["\n", "\r\n", "\r"]),
    ),
    max_size=4,
)
PATTERNS = st.one_of(
    WORDS,
    st.sampled_from(
        ["k", "i", "S", ".", "k.y", "ke*y", "ke?y", "[k]ey", "(?i:KEY)", "a|s", "ke+y", "ke{0}y", "^s", "s$"]
    ),
    st.text("akeys.*+?()[]|^$\\", min_size=1, max_size=5),
)


class Bare(Launcher):
    """A launcher on a machine without ripgrep."""

    def find(self, name: str, *, outside: Path) -> str | None:
        return None


def toolbox_with(launcher: Launcher, root: Path) -> Toolbox:
    context = ToolContext(
        workspace=Workspace.open(root, max_file_bytes=5_000),
        launcher=launcher,
        find_python=lambda: sys.executable,
        settings=ToolSettings(),
        timeout_s=30,
    )
    return Toolbox(context)


@pytest.mark.skipif(shutil.which("rg") is None, reason="needs ripgrep")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FILES, PATTERNS, st.booleans(), st.booleans(), st.sampled_from([1, 3, 100]))
@example([("utf-8", ["# coding: utf-7", "+AGs-ey"], "\n")], "key", False, False, 100)
@example([("utf-8", ["\u212a"], "\n"), ("utf-8", ["ı"], "\n")], "k", False, True, 100)
def test_both_ways_agree(
    files: list[tuple[str, list[str], str]], pattern: str, regex: bool, ignore_case: bool, limit: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "w"
        (root / "gone").mkdir(parents=True)
        for number in range(60):
            (root / f"plain{number}.txt").write_text("nothing\n")
        for number, (encoding, lines, end) in enumerate(files):
            data = end.join(lines).encode(encoding, "replace")
            (root / f"f{number} -x.py").write_bytes(data)
            (root / "gone" / f"{number}.txt").write_bytes(data)
            (root / f"large{number}.txt").write_bytes(data + b"\n" + b"x" * 5_000)
            (root / f"link{number}").symlink_to(f"f{number} -x.py")
        (root / "broken").symlink_to("nowhere")
        (root / ".gitignore").write_text("gone/\n")
        given_ = {"pattern": pattern, "regex": regex, "ignore_case": ignore_case, "limit": limit}
        fast = toolbox_with(Launcher(os.environ), root).call("grep_files", given_)
        slow = toolbox_with(Bare(os.environ), root).call("grep_files", given_)
    assert fast == slow


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("needle", "needle"),
        ("need+le", "need"),
        ("a.bcd", "bcd"),
        ("colou?r", "colo"),
        ("ab*c", "a"),
        (r"\bfoo\b", "foo"),
        (r"\x41b", ""),
        (r"(ab)cde", ""),
        ("[abc]def[]x]gh", "def"),
        ("a|b", ""),
        ("(?i)abc", ""),
        ("(?P<n>x)yz", ""),
        ("(?=abc)", ""),
        ("ab{2}", ""),
        (".*", ""),
    ],
)
def test_what_every_match_holds(pattern: str, text: str) -> None:
    assert _required(pattern) == text


@settings(max_examples=300, deadline=None)
@given(st.text("abk.*+?()[]|^$\\ 1", min_size=1, max_size=7), st.text("abk 1.", max_size=9))
def test_a_match_holds_the_required_text(pattern: str, line: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = re.search(pattern, line)
    except re.error:
        return
    if found:
        assert _required(pattern) in found[0]


@pytest.mark.parametrize("letter", "abcdefghijklmnopqrstuvwxyz")
def test_the_other_cases_of_a_letter_are_pythons(letter: str) -> None:
    same = set(re.findall(letter, EVERY_CHARACTER, re.IGNORECASE))
    assert set(_expression(letter, ignore_case=True)) == {*same, "[", "]"}
