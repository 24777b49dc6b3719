from __future__ import annotations

from pathlib import Path

import pytest

from codur.config.prompts import PromptLibrary
from codur.config.resources import resource_path
from codur.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {
        "two": "Fix {{path}}:\n\n{{code}}\n\nOnly {{path}}.\n",
        "plan.task": "Do {{task}}.",
        "plain": 'Answer {"a": {"b": 1}} like this.\n',
        "odd": "first line\nan open {{hole }}\n",
        "latin": "",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    (tmp_path / "latin.md").write_bytes("été".encode("latin-1"))
    return tmp_path


def test_holes_are_filled_once(folder: Path) -> None:
    prompts = PromptLibrary(folder)

    assert prompts.render("two", path="{{code}}", code="\\1 {{path}} {{other}}") == (
        "Fix {{code}}:\n\n\\1 {{path}} {{other}}\n\nOnly {{code}}."
    )
    assert prompts.render("plain") == 'Answer {"a": {"b": 1}} like this.'
    assert prompts.render("plan.task", task="it") == "Do it."
    assert prompts.holes("two") == {"path", "code"}


def test_a_hole_may_be_called_name_or_self(folder: Path) -> None:
    (folder / "words.md").write_text("{{name}} {{self}}", encoding="utf-8")

    with pytest.raises(ConfigError):
        PromptLibrary(folder).render("words", name="a")
    assert PromptLibrary(folder).holes("words") == {"name", "self"}


def test_each_file_is_read_once(folder: Path) -> None:
    prompts = PromptLibrary(folder)
    before = prompts.render("plain")
    (folder / "plain.md").write_text("changed", encoding="utf-8")

    assert prompts.render("plain") == before
    assert PromptLibrary(folder).render("plain") == "changed"


@pytest.mark.parametrize(
    ("name", "values", "message", "remedy"),
    [
        ("two", {"path": "a"}, "{folder}/two.md: {{code}} has no value", "Make the prompt and its caller agree."),
        ("two", {}, "{folder}/two.md: {{code}}, {{path}} has no value", "Make the prompt and its caller agree."),
        (
            "two",
            {"path": "a", "code": "b", "file": "c"},
            "{folder}/two.md: {{file}} has a value and no hole",
            "Make the prompt and its caller agree.",
        ),
        ("odd", {}, "{folder}/odd.md:2: holds {{ that does not begin a hole", "Write holes as {{name}}."),
        ("none", {}, "there is no prompt 'none'", "Prompts lie in {folder}."),
        ("../two", {}, "there is no prompt '../two'", "Prompts lie in {folder}."),
        ("latin", {}, "{folder}/latin.md: cannot be read: not UTF-8 text", "Install Codur again."),
    ],
)
def test_errors(folder: Path, name: str, values: dict[str, str], message: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PromptLibrary(folder).render(name, **values)

    assert caught.value.message == message.replace("{folder}", str(folder))
    assert caught.value.remedy == remedy.replace("{folder}", str(folder))


def test_a_name_is_told_from_a_prompt_written_out(folder: Path) -> None:
    prompts = PromptLibrary(folder)

    assert [prompts.has(name) for name in ("two", "none", "", "You are a tester.", "../two", "a\nb")] == [
        True,
        False,
        False,
        False,
        False,
        False,
    ]


def test_the_prompts_that_ship_with_codur_can_be_read() -> None:
    prompts = PromptLibrary()
    names = [path.stem for path in resource_path("prompts").glob("*.md")]

    for name in names:
        assert prompts.render(name, **dict.fromkeys(prompts.holes(name), "x")).strip()
