"""Where a shell's command may take what a reference names, and that it stays one word there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codur.planning.plans.step_references import Output, escaped, filled, filled_step, named_command, unprotected
from codur.types import Step

EVIL = [
    "a;touch PWNED;.txt",
    "$(touch PWNED)",
    "`touch PWNED`",
    "a'; touch PWNED; '",
    'a"; touch PWNED; "',
    "a\ntouch PWNED\n",
]
SAFE = [
    "echo ${x}",
    "echo a${x}b ${x}",
    "echo 'it' \"is\" ${x} | cat",
    "echo $(printf %s ${x})",
    "echo 'a$' ${x}",
    "echo a#b ${x}",
    "echo \\' ${x}",
    "echo $${HOME} ${x} '$${HOME}'",
    "v=${x}; echo done",
]
UNSAFE = [
    "echo '${x}'",
    'echo "${x}"',
    'echo "a $(printf %s ${x})"',
    "echo `printf %s ${x}`",
    "cat <<END\n${x}\nEND",
    "echo $((${x}))",
    "echo hi # ${x}",
    "echo \\${x}",
    "echo ${x} '${x}'",
    "echo $'a\\'b' ${x}",
    "echo 'open ${x}",
]


def command(text: str) -> Step:
    return Step(id="run", action="tool", capability="run_command", arguments={"command": text})


@pytest.mark.parametrize("template", SAFE)
@pytest.mark.parametrize("value", EVIL)
def test_what_is_put_into_a_command_stays_one_word(template: str, value: str, tmp_path: Path) -> None:
    assert unprotected(template) == ""
    given = filled_step(command(template), {"x": Output(text=value)}.get)["command"]
    subprocess.run(["sh", "-c", given], cwd=tmp_path, check=True, capture_output=True, timeout=300)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("template", UNSAFE)
def test_a_place_where_quotes_do_not_hold_is_told(template: str) -> None:
    assert unprotected(template) == "${x}"


def test_a_command_that_is_one_reference_is_what_it_names() -> None:
    step, outputs = command("${x}"), {"x": Output(text="echo ${y}; ls")}
    assert named_command(step)
    assert unprotected("${x}") == ""
    assert filled_step(step, outputs.get) == {"command": "echo ${y}; ls"}
    assert filled({"x": escaped("echo ${y}; ls")}, outputs.get) == {"x": "echo ${y}; ls"}
    assert not named_command(command("$${x}"))
    assert not named_command(Step(id="s", action="respond", arguments={"text": "${x}"}))


def test_no_other_argument_is_quoted() -> None:
    step = Step(id="w", action="tool", capability="write_file", arguments={"path": "a", "content": "<${x}>"})
    assert filled_step(step, {"x": Output(text="a b")}.get)["content"] == "<a b>"
