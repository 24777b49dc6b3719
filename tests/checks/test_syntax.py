"""Whether files parse: data that a change spoils, and data that the task says does not parse."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.checks.syntax import syntax_problem
from codur.types import Check
from tests.checks.test_checker import TESTS, checker
from tests.runs.kit import fill, play
from tests.runs.test_plans import classified
from tests.support.groq_server import calls

BROKEN = {
    "k8s/config.yaml": "kind: ConfigMap\ndata:\n\tLOG: debug\n",
    "pyproject.toml": '[project]\nname = "x\n',
    "settings.json": '{\n  // editor\n  "tab": 4\n}\n',
}
MENDED = {
    "k8s/config.yaml": "kind: ConfigMap\ndata:\n  LOG: debug\n",
    "pyproject.toml": '[project]\nname = "x"\n',
    "settings.json": '{\n  "tab": 4\n}\n',
}
EDIT = classified(task_type="code_fix", suggested_action="edit", confidence=0.95, detected_files=[])
SERVICE = "kind: Service\nport: 80\n---\nkind: Deployment\nimage: !Ref web\n"


def test_what_is_said_not_to_parse_is_red_before_and_green_after(tmp_path: Path) -> None:
    some = [("replace_file_content", {"path": path, "content": MENDED[path]}) for path in list(MENDED)[:2]]
    rest = [("replace_file_content", {"path": path, "content": MENDED[path]}) for path in list(MENDED)[2:]]
    prompt = "none of these files parses (k8s/*.yaml, pyproject.toml, settings.json). repair the syntax"
    played = play(tmp_path, BROKEN, prompt, [EDIT, calls(*some), calls(*rest)])
    before, after = played.result.before, played.result.verdict
    assert before is not None
    assert after is not None
    assert before.error.splitlines()[::3] == [
        'File "pyproject.toml", line 2',
        'File "settings.json", line 2',
        'File "k8s/config.yaml", line 3',
    ]
    assert before.error in played.message(1)
    assert 'File "settings.json", line 2' in played.message(2)
    assert "k8s/config.yaml, line 3" not in played.message(2)
    assert (played.result.outcome, after.status, played.unexpected) == ("done", "passed", 0)
    assert after.check == "syntax of pyproject.toml, settings.json, k8s/config.yaml"
    assert played.files == MENDED


def test_a_change_that_spoils_data_is_sent_back_whatever_the_tests_say(tmp_path: Path) -> None:
    files = {"k8s/web.yaml": SERVICE, "test_a.py": "def test_a():\n    pass\n", "a.py": "print(1)\n"}
    spoiled, right = SERVICE.replace("port: 80", "port: [80"), SERVICE.replace("80", "81")
    answers = [calls(("replace_file_content", {"path": "k8s/web.yaml", "content": text})) for text in (spoiled, right)]
    played = play(tmp_path, files, "let the service of k8s/web.yaml listen on port 81", [EDIT, *answers])
    assert (played.result.outcome, len(played.result.attempts)) == ("done", 1)
    assert 'File "k8s/web.yaml", line 3\nParserError: k8s/web.yaml: ' in played.message(2)
    assert played.files["k8s/web.yaml"] == right


@pytest.mark.parametrize(
    ("path", "before", "after", "status"),
    [
        ("a.json", "{}\n", '{"a": 1,}\n', "failed"),
        ("a.json", None, '{"a": 1,}\n', "failed"),
        ("a.json", "{} // so\n", '{"a": 1} // so\n', "no_check"),
        ("tsconfig.json", "{}\n", "{} // so\n", "no_check"),
        (".eslintrc.json", None, "{} // so\n", "no_check"),
        ("tests/a.json", None, "{\n", "no_check"),
        ("samples/broken.json", None, "{\n", "no_check"),
        ("config/database.yml", None, "a: <%= ENV.map { |x| [ %>\n", "no_check"),
        ("config/database.yml", None, "a: [\n", "failed"),
        ("a.toml", "a = 1\n", "a = \n", "failed"),
        ("a.yml", "a: &x 1\nb: *x\n", "a: 1\nb: *x\n", "failed"),
        ("a.yaml", "a: 1\n", "a: !vault |\n  x\n---\nb: !Ref c\n", "no_check"),
        ("chart/a.yaml", None, "{{- if .Values.a }}\na: {{ .Values.a }}\n{{- end }}\n", "no_check"),
        ("chart/a.yaml", "{% if a %}\na: 1\n{% endif %}\n", "{% if a %}\na: 2\n{% endif %}\n", "no_check"),
        ("large.json", "{}\n", " " * 1_000_001, "no_check"),
    ],
)
def test_only_what_parsed_before_or_is_new_is_spoiled(
    path: str, before: str | None, after: str, status: str, tmp_path: Path
) -> None:
    files = {"main.py": "print(1)\n"} | ({path: before} if before is not None else {})
    judge, workspace = checker(fill(tmp_path, files))
    workspace.write_text(path, after)
    assert judge.run(None).status == status


@pytest.mark.parametrize(
    ("changed", "note"),
    [
        (("a.json", "k8s/b.yaml"), "a.json, k8s/b.yaml parse, nothing else was looked at"),
        (("a.json", "guide.rst"), "a.json parses, nothing else was looked at"),
        (("guide.rst", "style.css"), ""),
    ],
)
def test_what_parses_is_named_and_of_nothing_else_it_is_said(
    changed: tuple[str, ...], note: str, tmp_path: Path
) -> None:
    judge, workspace = checker(fill(tmp_path, {"main.py": "print(1)\n"}))
    for path in changed:
        workspace.write_text(path, "[1]\n")
    why = "no expected output and no tests were found"
    assert judge.run(None).note == (f"{why}; {note}" if note else why)


def test_data_that_is_spoiled_fails_before_tests_run(tmp_path: Path) -> None:
    judge, workspace = checker(fill(tmp_path, {"a.json": "{}\n", "test_a.py": "def test_a(): pass\n"}))
    workspace.write_text("a.json", "{\n")
    assert judge.run(TESTS).check == "syntax of a.json"
    workspace.write_text("a.json", "[]\n")
    assert judge.run(TESTS).passed


def test_what_has_to_parse_has_to_be_there(tmp_path: Path) -> None:
    check = Check(kind="syntax", argv=(), parses=("a.json",), source="it is asked for")
    judge, workspace = checker(fill(tmp_path, {"a.json": "{}\n"}))
    assert (judge.run(check).status, judge.run(check).check) == ("passed", "syntax of a.json")
    workspace.delete("a.json")
    assert (judge.run(check).status, judge.run(check).error) == ("failed", "a.json: there is no such file")


@pytest.mark.parametrize("path", ["x.yaml", "x.json", "x.toml"])
def test_what_nests_too_deep_is_not_looked_at(path: str) -> None:
    opened = ("a = " if path == "x.toml" else "") + "[" * 400_000
    assert not syntax_problem(opened.encode(), path)
