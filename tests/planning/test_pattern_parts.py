"""The parts of the pattern phase: tokens, file names, phrases, courtesies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codur.planning.patterns.classify import clauses
from codur.planning.patterns.courtesy import greeting_in, without_courtesy
from codur.planning.patterns.decide import RULES
from codur.planning.patterns.holes import _ON_FILES, _ON_TEXT
from codur.planning.patterns.named_paths import FileNames, Mention, mentions
from codur.planning.patterns.phrases import MAX_WORDS, match, parse
from codur.planning.patterns.prompt_tokens import EDGE, Token, read_prompt
from codur.planning.patterns.rules.file_change_rules import COMMANDS
from tests.planning.data.pattern_workspace import make_workspace


def spoken(prompt: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in read_prompt(prompt).tokens]


@pytest.mark.parametrize(
    ("prompt", "tokens"),
    [
        ("", []),
        ("Fix main.py!", [("word", "Fix"), ("word", "main.py"), ("mark", "!")]),
        ("it's (foo()).", [("word", "it's"), ("mark", "("), ("word", "foo()"), ("mark", ")"), ("mark", ".")]),
        ("ls .", [("word", "ls"), ("word", ".")]),
        ("write \"a 'b'\" to x", [("word", "write"), ("quote", "a 'b'"), ("word", "to"), ("word", "x")]),
        ("find 'a b' `c d`", [("word", "find"), ("quote", "a b"), ("code", "c d")]),
        ("“fix it” „los“ «vite»", [("quote", "fix it"), ("quote", "los"), ("quote", "vite")]),
        ("5\" pipe", [("word", "5"), ("mark", '"'), ("word", "pipe")]),
        ("see\n```python\nx = 1\n```\nok", [("word", "see"), ("fence", "x = 1\n"), ("word", "ok")]),
        ("use ```app.py``` now", [("word", "use"), ("code", "app.py"), ("word", "now")]),
        ("open\n```\nfix it", [("word", "open"), ("fence", "fix it")]),
        ("a\nb", [("word", "a"), ("mark", "\n"), ("word", "b")]),
        ("why?\n\n> fix it\nthanks", [("word", "why"), ("mark", "?"), ("paste", "> fix it"), ("word", "thanks")]),
        (
            "fix\n FAIL  a/b.test.ts > c\n   d\n ❯ a/b.test.ts:9:5\nok",
            [("word", "fix"), ("paste", " FAIL  a/b.test.ts > c\n   d\n ❯ a/b.test.ts:9:5"), ("word", "ok")],
        ),
        ("see\ndef f():\n    fix()\nok", [("word", "see"), ("paste", "def f():\n    fix()"), ("word", "ok")]),
        ("a\n~~~\nfix\n~~~\nb", [("word", "a"), ("paste", "~~~\nfix\n~~~"), ("word", "b")]),
        (
            'a\n<file name="x">\ndelete it\n</file>\nb',
            [("word", "a"), ("paste", '<file name="x">\ndelete it\n</file>'), ("word", "b")],
        ),
        ("do:\n  fix it", [("word", "do"), ("mark", ":"), ("mark", "\n"), ("word", "fix"), ("word", "it")]),
    ],
)  # fmt: skip
def test_tokens(prompt: str, tokens: list[tuple[str, str]]) -> None:
    assert spoken(prompt) == tokens


def test_a_long_prompt_keeps_both_ends_and_says_so() -> None:
    text = read_prompt("begin " + "x" * 30_000 + " end")
    assert not text.complete
    assert [text.tokens[0].text, text.tokens[-1].text] == ["begin", "end"]
    assert sum(len(token.text) for token in text.tokens) < 2 * EDGE
    ends_in_fence = read_prompt("begin " + "x " * 15_000 + " end ```" + "y\n" * 9_000 + "```")
    assert [token.text for token in ends_in_fence.tokens if token.kind == "word"][-1] == "end"


def found(prompt: str, root: Path) -> list[tuple[str, str | None, tuple[int, int] | None]]:
    names = FileNames(make_workspace(root))
    return [(item.name, item.path, item.lines) for item in mentions(read_prompt(prompt), names)]


@pytest.mark.parametrize(
    ("prompt", "files"),
    [
        ("fix main.py", [("main.py", "main.py", None)]),
        ("fix @main.py.", [("main.py", "main.py", None)]),
        ("see `src/parser.py:12`", [("src/parser.py", "src/parser.py", (12, 12))]),
        ("main.py:3-9, main.py", [("main.py", "main.py", (3, 9))]),
        ("app.py:3:14", [("app.py", "app.py", (3, 3))]),
        ("src/parser.py::TestA::test_b[x-1] fails", [("src/parser.py", "src/parser.py", None)]),
        ("src/parser.py#L3-L7", [("src/parser.py", "src/parser.py", (3, 7))]),
        ("(./app.py)", [("./app.py", "app.py", None)]),
        ("src\\parser.py", [("src/parser.py", "src/parser.py", None)]),
        ("parser.py and PARSER.py", [("parser.py", "src/parser.py", None)]),
        ("Main.PY", [("Main.PY", "main.py", None)]),
        ('"my file.txt"', [("my file.txt", "my file.txt", None)]),
        ('the error "bad line in app.py"', [("app.py", "app.py", None)]),
        ("the readme and the Makefile", [("readme", "README.md", None), ("Makefile", "Makefile", None)]),
        ("main.py's imports", [("main.py", "main.py", None)]),
        ("make new.py", [("new.py", None, None)]),
        ("node.js, e.g. and/or os.path v1.2 https://x.org/a.py foo.bar() a=b.py *.py", []),
        ("self.h math.log", []),
        ("src tests/ . ..", []),
        ("```\nFile \"app.py\", line 3\nnothere.py\n```", [("app.py", "app.py", None)]),
    ],
)  # fmt: skip
def test_mentions(prompt: str, files: list[tuple[str, str | None, tuple[int, int] | None]], tmp_path: Path) -> None:
    assert found(prompt, tmp_path) == files


def test_ambiguous_and_outside_names(tmp_path: Path) -> None:
    names = FileNames(make_workspace(tmp_path / "w", {"a/util.py": "", "b/util.py": ""}))
    (tmp_path / "secret.txt").write_text("s")
    assert names.find("util.py") == Mention(name="util.py", candidates=("a/util.py", "b/util.py"))
    assert names.find("../secret.txt") == Mention(name="../secret.txt", outside=True)
    assert names.find("x" * 5_000 + ".py") is None
    assert names.find("a\0.py") is None
    assert names.new_path("../x.txt") is None
    assert names.new_path("c/d.txt") == "c/d.txt"
    assert (names.directory("a/"), names.directory("."), names.directory("c"), names.directory("..")) == (
        "a",
        "",
        None,
        None,
    )


def word_or_number(hole: str, token: Token) -> str | int | None:
    return int(token.text) if hole == "NUM" and token.text.isdigit() else token.text if hole == "NAME" else None


@pytest.mark.parametrize(
    ("phrase", "prompt", "captures"),
    [
        ("show NAME", "show it", {"NAME": "it"}),
        ("show NAME", "show it now", None),
        ("show NAME", "show", None),
        ("(show|print) [me] [the file] NAME", "print the file x", {"NAME": "x"}),
        ("(show|print) [me] [the file] NAME", "print the x", None),
        ("a [b (c|d e)] f", "a b d e f", {}),
        ("a [b (c|d e)] f", "a f", {}),
        ("a [b (c|d e)] f", "a b f", None),
        ("NAME to NAME", "x to y", {"NAME": "x", "NAME2": "y"}),
        ("from NUM", "from x", None),
        ("say ARGS", "say", None),
    ],
)
def test_phrases(phrase: str, prompt: str, captures: dict[str, object] | None) -> None:
    assert match(phrase, read_prompt(prompt).tokens, word_or_number) == captures


def test_a_quoted_word_is_no_word_of_a_phrase() -> None:
    assert match("fix it", read_prompt('"fix" it').tokens, word_or_number) is None


def test_rest_and_length() -> None:
    captures = match("say ARGS", read_prompt("say a b").tokens, word_or_number)
    assert captures is not None
    assert [token.text for token in captures["ARGS"]] == ["a", "b"]
    assert match("say ARGS", read_prompt("say " + "a " * MAX_WORDS).tokens, word_or_number) is None


@pytest.mark.parametrize("phrase", ["(a", "a)", "[a)", "a | b", "(a|b]"])
def test_a_wrong_phrase_is_an_error(phrase: str) -> None:
    with pytest.raises(ValueError, match="phrase"):
        parse(phrase)


def test_every_phrase_of_every_rule_can_be_read() -> None:
    rules = [*COMMANDS, *(rule for rows in RULES.values() for rule in rows)]
    phrases = [phrase for rule in rules for phrase in rule.phrases]
    assert len(phrases) == len({phrase for phrase in phrases if parse(phrase)}) > 100
    holes = set(re.findall(r"[A-Z]{2,}", " ".join(map(str, map(parse, phrases)))))
    assert holes == {*_ON_FILES, *_ON_TEXT, "ARGS"}


@pytest.mark.parametrize(
    ("prompt", "rest"),
    [
        ("Hi Codur, could you please show app.py, thanks!", "show app.py"),
        ("please", ""),
        ("Now run main.py for me please.", "run main.py"),
        ("fix main.py", "fix main.py"),
        ("Bitte zeig mir app.py", "zeig mir app.py"),
        ("first, list files", "list files"),
        ("first line of app.py", "first line of app.py"),
    ],
)
def test_courtesy_is_taken_off(prompt: str, rest: str) -> None:
    assert " ".join(token.text for token in without_courtesy(read_prompt(prompt).tokens)) == rest


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("hi", "hello"),
        ("Hello there 😀!!", "hello"),
        ("thanks, bye", "thanks"),
        ("good night", "bye"),
        ("hey, what can you do?", "help"),
        ("hi main.py", None),
        ("codur", None),
        ('"hi"', None),
        ("hello world", None),
        ("?", None),
        ("", None),
    ],
)
def test_greetings(prompt: str, kind: str | None) -> None:
    assert greeting_in(read_prompt(prompt).tokens) == kind


def test_clauses() -> None:
    parts = clauses(read_prompt("Hi. Please show app.py and then, could you fix it?\nThanks").tokens)
    assert [" ".join(token.text for token in part) for part in parts] == ["show app.py", "fix it"]
