"""`codur` alone at a terminal: what is typed, what is shown, what later tasks know."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from codur.cli.conversation.line_completion import LineCompleter
from codur.cli.conversation.slash_commands import COMMANDS, Asked, help_text, read_line
from codur.cli.project_names import ProjectNames
from codur.errors import UsageError
from codur.session.turns import Turn, Turns, since
from codur.structs import replace
from tests.cli.kit import codur, environment
from tests.runs.kit import KEY, REPAIRABLE, fill
from tests.support.groq_server import GroqServer, ServerReply, calls, hold, json_reply, text
from tests.support.terminal import CTRL_C, CTRL_D, Terminal
from tests.tools.git_vectors import git

READY = "codur>"
SAID = {
    "task_type": "explanation",
    "confidence": 0.95,
    "detected_files": [],
    "suggested_action": "explain",
    "reasoning": ".",
}
EXPLAINED = json_reply(SAID)
Opens = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture
def opens(project: Path, home: Path) -> Opens:
    """Begins a conversation."""

    def begin(*words: str, **variables: str) -> Terminal:
        environ = environment(home, PROMPT_TOOLKIT_NO_CPR="1", **variables)
        return Terminal(words, cwd=project, environ=environ, forked=True)

    return begin


def say(terminal: Terminal, words: str) -> None:
    terminal.until(READY)
    terminal.press(f"{words}\r")


def test_a_fix_its_undoing_and_what_is_remembered(opens: Opens, project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    with opens() as terminal:
        assert "model: none: GROQ_API_KEY is not set" in terminal.until("try: ")
        say(terminal, "fix main.py")
        terminal.until("solved · repair · 0 calls")
        assert (project / "main.py").read_text() != REPAIRABLE["main.py"]
        say(terminal, "undo that")
        terminal.until("restored: main.py")
        assert (project / "main.py").read_text() == REPAIRABLE["main.py"]
        say(terminal, "/undo")
        terminal.until("there is nothing to undo")
        say(terminal, "/redo")
        terminal.until("made again: main.py")
        say(terminal, "/undo --dry-run")
        terminal.until("would be restored: main.py")
        say(terminal, "/undo")
        terminal.until("restored: main.py")
        say(terminal, "!echo $((6 * 7))")
        terminal.until("42")
        say(terminal, "/context")
        told = terminal.until("Outcome: done, and undone since")
        assert told.index("User: !echo") < told.index("User: fix main.py")
        assert "Changed:" not in told
        say(terminal, CTRL_D)
        assert terminal.ended() == 0
    kept = home / ".local/state/codur/conversations"
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept.iterdir()} == {0o600}
    assert "+fix main.py" in next(kept.glob("*.history")).read_text()
    with opens("--continue") as terminal:
        terminal.until("2 earlier tasks remembered")
        say(terminal, "/quit")
        assert terminal.ended() == 0
    with opens() as terminal:
        say(terminal, "/context")
        terminal.until("nothing yet")


def test_what_all_tasks_left_is_committed_in_everyday_words(opens: Opens, project: Path, home: Path) -> None:
    fill(project, {**REPAIRABLE, "notes.txt": "milk\n"})
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    for key, value in {"name": "Ann", "email": "ann@example.org"}.items():
        git(project, "config", f"user.{key}", value)
    assert codur('append "before" to notes.txt', "--offline", cwd=project, home=home).code == 0
    with opens() as terminal:
        for task in ("fix main.py", 'create old.txt with "x"', 'create new.txt with "x"'):
            say(terminal, task)
            terminal.until("/commit")
        say(terminal, "!rm old.txt && echo 'index.lock: Read-only file system'")
        terminal.until(".git stays as it is (/commit commits to it)")
        say(terminal, "/commit -C .")  # which names no run
        terminal.until("to undo: codur commit --undo")
        say(terminal, "/context")
        terminal.until("Outcome: done")
        assert git(project, "show", "--format=", "--name-only", "HEAD").split() == ["main.py", "new.txt"]
        say(terminal, "forget it then. commit everything we have so far as 'the rest'")
        terminal.until("to undo: codur commit --undo")
        say(terminal, CTRL_D)
        assert terminal.ended() == 0
    assert git(project, "show", "--format=%s", "--name-only", "HEAD").split("\n") == ["the rest", "", "notes.txt", ""]


def test_a_later_task_knows_the_earlier_ones(opens: Opens, project: Path, home: Path) -> None:
    others = {f"lake/part_{n}.py": f"def f_{n}():\n" + "    print('wave')\n" * 250 for n in range(40)}
    fill(project, {"notes.txt": "milk\n", **others})
    with GroqServer([EXPLAINED, text("The answer is heron."), EXPLAINED, text("Because of the lake.")]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "/add notes.txt")
            say(terminal, "what bird would that be?")
            terminal.until("The answer is heron.")
            say(terminal, "/cost")
            terminal.until("of 1 remembered tasks: 2 model calls, ")
            for name, content in (("notes.txt", "milk and bread\n"), ("lake/part_37.py", "DEPTH = 7\n")):
                (project / name).write_text(content)
                # The prompt may not be there yet, and a file's time has coarser steps than a clock.
                os.utime(project / name, times=(time.time() + 1,) * 2)
            say(terminal, "and why?")
            terminal.until("Because of the lake.")
        first, last = (json.dumps(server.requests[number].body) for number in (1, -1))
    assert "what bird" not in first.replace("what bird would that be?", "", 1)
    assert "milk" in last
    assert "what bird would that be?" in last
    assert "heron" in last
    assert "Changed by the user since then: lake/part_37.py, notes.txt" in last
    assert "DEPTH = 7" in last  # a source that he works at is shown, whatever he asks
    assert "Changed by the user" not in first


def test_no_secret_is_kept(opens: Opens, home: Path) -> None:
    with opens(GROQ_API_KEY=KEY) as terminal:
        say(terminal, f"!printf 'a b' # {KEY}")
        terminal.until("a b\n")
        say(terminal, CTRL_D)
        assert terminal.ended() == 0
    kept = [path for path in (home / ".local/state/codur").rglob("*") if path.is_file()]
    assert {".jsonl", ".history"} <= {path.suffix for path in kept if path.parent.name == "conversations"}
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []


def test_what_was_done_is_shown_where_it_cannot_be_remembered(opens: Opens, project: Path, home: Path) -> None:
    with opens() as terminal:
        say(terminal, "/context")
        history = next((home / ".local/state/codur/conversations").glob("*.history"))
        history.with_suffix(".jsonl").mkdir()
        say(terminal, "!printf 'a b'")
        terminal.until("a b\n")
        terminal.until("is a directory")
        say(terminal, CTRL_D)
        assert terminal.ended() == 0


def test_settings_that_cannot_be_used_leave_the_last_conversation(opens: Opens, home: Path) -> None:
    with opens() as terminal:
        say(terminal, "!true")
        terminal.until("done · run_command")
        say(terminal, CTRL_D)
        assert terminal.ended() == 0
    fill(home, {".config/codur/config.yaml": "lm: {}\n"})
    with opens() as terminal:
        terminal.until("there is no such setting")
        assert terminal.ended() == 2
    (home / ".config/codur/config.yaml").unlink()
    with opens("--continue") as terminal:
        terminal.until("1 earlier task remembered")


def test_ctrl_c_stops_the_work_and_keeps_the_conversation(opens: Opens, project: Path, home: Path) -> None:
    fill(project, {"notes.txt": "milk\n"})
    with GroqServer([EXPLAINED, hold(), EXPLAINED, text("Here I am.")]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "what bird would that be?")
            assert server.holding.wait(60)
            terminal.press(CTRL_C)
            terminal.until("interrupted")
            server.release()
            say(terminal, "where are you?")
            terminal.until("Here I am.")
            say(terminal, CTRL_C)
            terminal.until("Ctrl-C once more leaves")
            say(terminal, CTRL_C)
            assert terminal.ended() == 0


def test_what_is_typed_while_a_task_works_is_told_at_the_next_step(opens: Opens, project: Path, home: Path) -> None:
    fill(project, {"notes.txt": "milk\n"})
    with GroqServer([hold(EXPLAINED), text("The answer is heron.")]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "what bird would that be?")
            assert server.holding.wait(60)
            terminal.press("name iy\x7ft in Latin")
            terminal.until("> name it in Latin_")
            terminal.press("\x1b")
            terminal.press("name it in Greek\r")
            terminal.until("> name it in Greek (for the next step)")
            server.release()
            terminal.until("told the model: name it in Greek")
            terminal.until("The answer is heron.")
            say(terminal, "/cost")
            terminal.until("of 1 remembered tasks: 2 model calls, ")
        first, last = (json.dumps(server.requests[number].body) for number in (0, -1))
    assert "in Greek" not in first
    assert "Said while this was worked on, and holds:\\n- name it in Greek" in last
    assert "Latin" not in last


def test_a_command_that_is_typed_while_a_task_works_waits_for_its_end(opens: Opens, project: Path, home: Path) -> None:
    with GroqServer([hold(EXPLAINED), text("The answer is heron.")]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "what bird would that be?")
            assert server.holding.wait(60)
            terminal.press("/cost\r")
            terminal.until("> /cost (when this is done)")
            terminal.press("!echo $((6 * 7))\r")
            terminal.press("and commit everything when its green\r")
            terminal.until("> and commit everything (when this is done)")
            server.release()
            terminal.until("The answer is heron.")
            terminal.until("codur> /cost")
            terminal.until("of 1 remembered tasks: 2 model calls, ")
            terminal.until("42")
            terminal.until("not in a git repository")
        assert "/cost" not in json.dumps([request.body for request in server.requests])


def test_what_a_command_does_is_done_by_it_once_a_model_has_understood(opens: Opens, project: Path, home: Path) -> None:
    understood = json_reply({**SAID, "task_type": "git", "suggested_action": "command", "capability": "commit"})
    fill(project, {"notes.txt": "milk\n"})
    with GroqServer([understood, json_reply({"subject": "Buy milk", "body": ""})]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "put what we did into git, would you")
            terminal.until("codur> /commit")
            terminal.until("not in a git repository")


def test_who_is_asked_about_commits_sees_what_git_sees(opens: Opens, project: Path, home: Path) -> None:
    said = {**SAID, "task_type": "explanation", "suggested_action": "end", "answer": "notes.txt is."}
    fill(project, {"notes.txt": "milk\n"})
    git(project, "init", "-q", "-b", "main")
    with GroqServer([json_reply(said), json_reply(said)]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "so what would be left uncommitted, and why is that?")
            terminal.until("notes.txt is.")
            say(terminal, "and is that any good?")
            terminal.until("notes.txt is.")
        first, second = (str(request.body["messages"][1]["content"]) for request in server.requests)
    assert "What git status says now:" in first.partition("# F")[0]
    assert "What git status says now:" not in second


def test_several_commits_are_made_one_after_the_other(opens: Opens, project: Path, home: Path) -> None:
    files = [{"name": "files", "value": "a.txt; b.txt c.txt"}]
    said = {**SAID, "task_type": "git", "suggested_action": "command", "capability": "commit", "arguments": files}
    fill(project, {"notes.txt": "milk\n"})
    with GroqServer([json_reply(said)]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "put a into git, and the other two as another one")
            terminal.until("codur> /commit --only=a.txt")
            terminal.until("codur> /commit --only=b.txt --only=c.txt")


def test_no_text_of_a_file_or_of_an_answer_is_taken_for_a_command(opens: Opens, project: Path, home: Path) -> None:
    said = "`codur commit --all --no-verify` does that."
    fill(project, {"README.md": f"{said}\n"})
    with GroqServer([EXPLAINED, text(said)]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "show README.md")
            terminal.until("does that.")
            say(terminal, "what is README.md good for?")
            terminal.until("does that.")
            say(terminal, "/cost")
            terminal.until("model calls")
            assert "codur> /commit" not in terminal.text


def test_what_is_left_is_committed_after_a_task_that_changes_nothing(opens: Opens, project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    who = {f"GIT_{who}_{what}": "ann" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    with opens(**who) as terminal:
        say(terminal, "fix main.py")
        terminal.until("/commit")
        say(terminal, "show expected.txt, then commit")
        terminal.until("to undo: codur commit --undo")
        say(terminal, "undo the commit")
        terminal.until("The files stay as they are")
        assert git(project, "log", "--format=%s") == "first\n"
        say(terminal, "commit that")
        terminal.until("to undo: codur commit --undo")
        fill(project, {"notes.txt": "mine\n"})
        git(project, "add", "notes.txt")
        say(terminal, "commit my staged changes")
        terminal.until("Change notes.txt")
    assert git(project, "show", "--format=%an", "--name-only", "HEAD~1").split() == ["ann", "main.py"]
    assert git(project, "show", "--format=%an", "--name-only", "HEAD").split() == ["ann", "notes.txt"]


def test_a_command_for_an_answer_is_carried_out(opens: Opens, project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    asks = calls(("ask_user", {"question": "Which one?"}))
    with GroqServer([asks]) as server:
        settings = f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\nrepair: {{mode: 'off'}}\n"
        fill(home, {".config/codur/config.yaml": settings})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "fix main.py")
            terminal.until("? Which one?")
            terminal.press("/cost\r")
            terminal.until("codur> /cost")
            terminal.until("of 1 remembered tasks: 1 model call")


def test_who_lets_tests_be_changed_for_good_is_asked_once(opens: Opens, project: Path, home: Path) -> None:
    tests = "from sums import total\n\n\ndef test_a():\n    assert total([1]) == 1\n"
    fill(project, {"sums.py": "def total(numbers):\n    return sum(numbers)\n", "test_sums.py": tests})
    plans = json_reply(
        {**SAID, "task_type": "code_fix", "suggested_action": "edit", "detected_files": ["test_sums.py"]}
    )

    def renames(old: str, new: str) -> ServerReply:
        return calls(("replace_in_file", {"path": "test_sums.py", "old": f"def test_{old}", "new": f"def test_{new}"}))

    with GroqServer([plans, renames("a", "one"), plans, renames("one", "first")]) as server:
        settings = f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\nverification: {{make_check: never}}\n"
        fill(home, {".config/codur/config.yaml": settings})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "the name of a test is no good, it should say more")
            terminal.until("(yes, no, always)")
            terminal.press("always\r")
            terminal.until("next: /diff")
            say(terminal, "the name of that test is still no good")
            terminal.until("next: /diff")
            assert terminal.text.count("(yes, no, always)") == 1
    assert "def test_first" in (project / "test_sums.py").read_text()


def test_what_is_typed_too_late_is_the_next_task(opens: Opens, project: Path, home: Path) -> None:
    fill(project, {"notes.txt": "milk\n"})
    with GroqServer([EXPLAINED, hold(text("The answer is heron.")), EXPLAINED, text("Drawn.")]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "what bird would that be?")
            assert server.holding.wait(60)
            terminal.press("\x1b[200~explain\nnotes.txt\x1b[201~\ragain")
            terminal.until("> explain notes.txt (for the next step)")
            terminal.until("> again_")
            terminal.press(CTRL_C)
            terminal.until("interrupted")
            terminal.until("it is on the next line")
            server.release()
            terminal.until("explain notes.txt")
            terminal.until("again")
            terminal.press("\r")
            terminal.until("Drawn.")
        assert "explain notes.txt\\nagain" in json.dumps(server.requests[-1].body)


def test_another_width_while_a_task_works_and_at_the_prompt(opens: Opens, project: Path, home: Path) -> None:
    fill(project, {"notes.txt": "milk\n"})
    answer = "The answer is the grey heron, which stands at the edge of the lake every single morning of the year."
    with GroqServer([EXPLAINED, hold(text(answer)), EXPLAINED, hold()]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        with opens(GROQ_API_KEY=KEY) as terminal:
            say(terminal, "what bird would that be?")
            assert server.holding.wait(60)
            terminal.until("asking gpt-oss-120b")
            for columns, words in (
                (24, "asking gpt-oss-120b (…"),
                (200, "asking gpt-oss-120b (codur-explaining) · open"),
                (40, "asking gpt-oss-120b (codur-explaining…"),
            ):
                terminal.resize(columns)
                terminal.until(words)
            server.release()
            shown = terminal.until("done · codur-explaining · 2 calls")
            assert all(word in shown.split() for word in answer.split())
            assert max(map(len, shown.splitlines()[-3:])) <= 40
            terminal.until(READY)
            terminal.press("/show nosuch")
            for columns in (20, 160):
                terminal.resize(columns)
                terminal.until("/show nosuch")
            terminal.press("\r")
            terminal.until("there is no run 'nosuch'")
            terminal.resize(30)
            say(terminal, "/runs")
            assert re.search(r"\b\d{8}-\d{4}-[a-z0-9]{3}\b", terminal.until("what bird"))


def test_earlier_conversations_and_stopped_tasks_are_listed_and_gone_on_with(opens: Opens, home: Path) -> None:
    for word in ("one", "two"):
        with opens() as terminal:
            say(terminal, f"!echo $((6 * 7)) # {word}")
            terminal.until("42\n")
            say(terminal, CTRL_D)
            assert terminal.ended() == 0
    with opens() as terminal:
        say(terminal, "/resume")
        terminal.until("1: 1 task, the last: !echo $((6 * 7)) # two")
        terminal.until("2: 1 task, the last: !echo $((6 * 7)) # one")
        say(terminal, "/resume 2")
        terminal.until("1 earlier task remembered")
        say(terminal, "/context")
        terminal.until("# one")
        say(terminal, "/resume")
        terminal.until("1: 1 task, the last: !echo $((6 * 7)) # two")
        say(terminal, "/resume 3")
        terminal.until("there is no run '3'")
        say(terminal, "/show last")
        terminal.until("# two")
    with opens("--continue") as terminal:
        terminal.until("1 earlier task remembered")


def test_a_signal_of_the_system_ends_it(opens: Opens) -> None:
    with opens() as terminal:
        terminal.until(READY)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 143


def test_what_holds_for_later_tasks_and_what_is_wrong(opens: Opens, project: Path) -> None:
    fill(project, {"notes.txt": "milk\n", ".gitignore": "secret.txt\n", "secret.txt": "x\n"})
    fill(project, {"Makefile": "test:\n\ttrue\n"})
    with opens() as terminal:
        for typed, shown in (
            ("/check false", "check: false"),
            ("/check", "check: false"),
            ("/check auto", "check: as found: `make test`"),
            ("/check", "check: as found: `make test`"),
            ("/agent codex", "agent: codex"),
            ("/agent codx", "there is no agent named 'codx'"),
            ("/agent", "agent: codex"),
            ("/agent auto", "agent: as the settings say"),
            ("/scope *.txt", "may change: *.txt"),
            ("/offline on", "no model is asked"),
            ("/offline maybe", "/offline takes on or off"),
            ("/permissions ask", "each plan is shown"),
            ("/permissions edit", "edits are made without asking"),
            ("/permissions maybe", "/permissions takes ask, edit, run or auto"),
            ("/permissions auto", "as the settings say"),
            ("/model local", "model: local"),
            ("/model locl", "Did you mean local?"),
            ("/model auto", "model: as the settings say"),
            ("/add note.txt", "Did you mean notes.txt?"),
            ("/add notes.txt", "notes.txt"),
            ("/drop secret.txt", "secret.txt was not added"),
            ("/drop", "none: /add FILE"),
            ("/cost", "of 0 remembered tasks"),
            ("/compact", "nothing is remembered"),
            ("/dif", "Did you mean /diff?"),
            ("/tools now", "/tools takes nothing"),
            ("/plan", "/plan takes TASK"),
            ("/show 'x", "a quotation mark is not closed"),
            ("/show nosuch", "nosuch"),
        ):
            terminal.press(f"{typed}\r")
            terminal.until(shown)
        terminal.press("show me @not\t")
        terminal.until("es.txt")  # in a menu, or in the line
        terminal.press("\x0c")  # Ctrl-L: the line is drawn anew, as one text
        terminal.until("show me @notes.txt")
        terminal.press("\r")
        terminal.until("milk")
        terminal.press("/help\r")
        listed = terminal.until("@FILE")
        assert all(f"/{command.name}" in listed for command in COMMANDS)


def test_in_a_place_that_is_no_project(home: Path) -> None:
    environ = environment(home, PROMPT_TOOLKIT_NO_CPR="1")
    with Terminal([sys.executable, "-m", "codur"], cwd=home, environ=environ) as terminal:
        assert f"check: none: {home} is no project" in terminal.until("try: ")


def test_the_list_of_commands_fits() -> None:
    for width in (50, 60, 80):
        assert max(map(len, help_text(width).splitlines())) <= width


def completed(names: ProjectNames, text: str) -> list[tuple[str, str]]:
    completer = LineCompleter(names.files, names.symbols, {"add": names.files, "check": lambda: ["auto"]})
    found = completer.get_completions(Document(text), CompleteEvent(text_inserted=True))
    return [(item.text, item.display_meta_text) for item in found]


def test_what_is_typed_is_completed_without_what_git_ignores(project: Path, home: Path) -> None:
    birds = "class Bird:\n    def sing(self):\n        pass\n\n\ndef bird_count():\n    return 1\n"
    fill(project, {"src/birds.py": birds, "secret.py": "def bird_secret(): pass\n", ".gitignore": "secret.py\n"})
    names = ProjectNames(project)
    assert completed(names, "why does @bir") == [
        ("@src/birds.py", ""),
        ("@Bird", "src/birds.py"),
        ("@bird_count", "src/birds.py"),
    ]
    assert completed(names, "@sin") == [("@sing", "src/birds.py")]
    (project / "more.py").write_text("def bird_house():\n    pass\n")
    assert ("@bird_house", "more.py") in completed(names, "@bird_")
    assert completed(names, "/add src/b") == [("src/birds.py", "")]
    assert completed(names, "/check a") == [("auto", "")]
    assert [text for text, _ in completed(names, "/per")] == ["/permissions"]
    assert completed(ProjectNames(home.parent / "nowhere"), "@a") == []


def test_a_task_goes_on_with_what_was_given_alone_and_in_a_conversation(
    opens: Opens, project: Path, home: Path
) -> None:
    def told() -> str:
        newest = json.loads(codur("runs", "--json", cwd=project, home=home).out)[0]["id"]
        run = home / ".local/state/codur/runs" / newest / "run.json"
        return str(json.loads(run.read_text())["task"].get("earlier", ""))

    ran = codur("--continue", "now fix it", cwd=project, home=home)
    assert (ran.code, ran.out) == (2, "")
    assert "there is no earlier task here to go on with" in ran.err
    fill(project, {**REPAIRABLE, "notes.txt": "milk\n"})
    assert codur('append "eggs" to notes.txt', "--offline", cwd=project, home=home).code == 0
    assert codur("verify", cwd=project, home=home).code == 1
    ran = codur("--continue", "--offline", 'append "rice" to notes.txt', cwd=project, home=home)
    assert (ran.code, (project / "notes.txt").read_text()) == (0, "milk\neggs\nrice")
    assert 'User: append "eggs"' in (said := told())
    assert "+eggs" in said
    assert "verify" not in said
    assert codur("undo", cwd=project, home=home).code == 0
    assert codur("--continue", "--offline", 'create c.txt with "c"', cwd=project, home=home).code == 0
    assert "Changed by the user" not in told()
    (project / "new.py").write_text("NEW = 1\n")
    assert codur("--continue", 'create b.txt with "b"', "--offline", cwd=project, home=home).code == 0
    assert "Outcome: done, and undone since" in (said := told())
    assert "Changed by the user since then: " in said
    assert "new.py" in said
    assert codur("undo", cwd=project, home=home).code == 0
    with opens("--continue") as terminal:
        terminal.until("4 earlier tasks remembered")
        say(terminal, "/context")
        terminal.until('User: create b.txt with "b"')
        say(terminal, "!echo $((6 * 7))")
        terminal.until("42\n")
        say(terminal, "/quit")
        assert terminal.ended() == 0
    with opens("--continue") as terminal:
        terminal.until("5 earlier tasks remembered")


def test_a_result_of_another_version_is_none_to_go_on_with(project: Path, home: Path) -> None:
    assert codur('create b.txt with "b"', "--offline", cwd=project, home=home).code == 0
    (kept,) = (home / ".local/state/codur/runs").glob("*/result.json")
    kept.write_text(kept.read_text().replace('"done"', '"unheard of"'))
    assert "there is no earlier task here" in codur("--continue", "now fix it", cwd=project, home=home).err


def test_without_a_terminal(project: Path, home: Path) -> None:
    ran = codur("--continue", cwd=project, home=home)
    assert (ran.code, ran.out) == (2, "")
    assert "a conversation takes a terminal" in ran.err
    assert codur("--continue", "--help", cwd=project, home=home).out.startswith("Usage: codur")
    ran = codur("--continue", "undo", cwd=project, home=home)
    assert (ran.code, ran.out) == (2, "")
    assert "--continue goes with a task, not with `undo`" in ran.err
    assert "a conversation takes no options" in codur("--continue", "--json", cwd=project, home=home).err


LINES = {
    "fix main.py": Asked(task="fix main.py"),
    " explain @src/app.py and @ ": Asked(task="explain src/app.py and @"),
    "/etc/hosts is read, why?": Asked(task="/etc/hosts is read, why?"),
    "!ls -l": Asked(program="ls -l"),
    "/": Asked(name="help"),
    "/plan rename a b": Asked(words=("run", "--plan", "--", "rename a b")),
    "/diff 'a b' c": Asked(words=("diff", "a b", "c")),
    "/check": Asked(name="check"),
    "/check make test": Asked(name="check", value="make test"),
    "undo": Asked(words=("undo",)),
    "Undo the last change.": Asked(words=("undo",)),
    "hm no, undo that": Asked(words=("undo",)),
    "rename f to g in a.py, and commit it with a good message": Asked(task="rename f to g in a.py", then=("commit",)),
    "delete b.py, then commit": Asked(task="delete b.py", then=("commit",)),
    "fine, leave it. commit that, then rename a to b everywhere": Asked(
        task="rename a to b everywhere", words=("commit",)
    ),
    "commit this. and add a changelog entry for it first, we have none yet": Asked(
        task="add a changelog entry for it, we have none yet", then=("commit",), together=True
    ),
    "keep that test after all, in a_test.go. then commit everything": Asked(
        task="keep that test after all, in a_test.go", then=("commit", "--all")
    ),
    "you cut my sentence! commit it now, and then write a CHANGELOG.md": Asked(
        task="write a CHANGELOG.md, you cut my sentence!", words=("commit",)
    ),
    "extend its test; commit when it's green": Asked(task="extend its test", then=("commit",)),
    "commit. and why is note in the same cell? I want it as its own column, in both pages": Asked(
        task="and why is note in the same cell? I want it as its own column, in both pages", words=("commit",)
    ),
    **{
        text: Asked(task=text)
        for text in (
            "commit. no wait, what did you change? show me the diff and do nothing yet",
            "commit that. did all the tests pass? Only if they did",
            "commit it. or is something missing? then add that instead",
            "commit that. which files? only main.py please",
        )
    },
    "yes, commit that. what is left uncommitted then?": Asked(task="what is left uncommitted then?", words=("commit",)),
    "print the version, then commit": Asked(task="print the version", then=("commit",)),
    "move the print-settings test into test_cli.py and then commit": Asked(
        task="move the print-settings test into test_cli.py", then=("commit",)
    ),
    "do that, and if it fails as you say, commit": Asked(task="do that, and if it fails as you say, commit"),
    "file.test.ts has the old text, update it and add that to the commit": Asked(
        task="file.test.ts has the old text, update it", then=("commit", "--amend")
    ),
    "hmm no, that breaks too many people. undo that": Asked(words=("undo",)),
    **{
        text: Asked(task=text)
        for text in (
            "Commit abc123 broke the login. Revert it.",
            "PR 42 broke the build. Please revert that.",
            "I changed the timeout to 5 by hand. Undo that",
            "Never undo that. Revert it.",
            "Fetch the hash and put it into the commit",
        )
    },
    "undo the commit, then fix the typo": Asked(task="fix the typo", words=("commit", "--undo")),
    "the flag is read twice. undo": Asked(task="the flag is read twice. undo"),
    "it does not work. undo that": Asked(words=("undo",)),
    "see what is left when it is off. undo that": Asked(task="see what is left when it is off. undo that"),
    "ok commit it on its own then. after that: fix width, with tests": Asked(
        task="fix width, with tests", words=("commit",)
    ),
    "good, commit it all and then fix --print: it never prints NAME": Asked(
        task="fix --print: it never prints NAME", words=("commit", "--all")
    ),
    "fix --print: it does not print NAME. then commit": Asked(
        task="fix --print: it does not print NAME", then=("commit",)
    ),
    "hm, on second thought undo the rename": Asked(words=("undo",), about="rename"),
    "fix it. Commit all of it as 'Fix it'": Asked(task="fix it", then=("commit", "--message=Fix it")),
    **{
        text: Asked(task=text)
        for text in (
            "explain the difference between stash and commit all",
            "commit this and fix the first test",
            "commit this: read the file, then parse it",
            "commit the fix, then the tests",
            "commit my changes and move the import before os",
            "commit it, but fix the typo first and then push it",
            "what happens if I undo, then commit everything?",
            "you should not edit a.py, commit it",
            "write a hook that runs the tests, then commit",
            "add a button to save and commit it",
            "transaction: begin and then commit all",
        )
    },
    "what is the difference between add and commit": Asked(task="what is the difference between add and commit"),
    "how do i fix this and commit it to memory": Asked(task="how do i fix this and commit it to memory"),
    "hm no, bring it back": Asked(words=("undo", "--redo")),
    "bring the header back": Asked(task="bring the header back"),
    "commit this": Asked(words=("commit",)),
    "please commit the last change": Asked(words=("commit", "last")),
    "forget it then. commit everything": Asked(words=("commit", "--all")),
    "commit the parser first": Asked(task="commit the parser first"),
    "undo the rename in app.py": Asked(task="undo the rename in app.py"),
}


@pytest.mark.parametrize("line", LINES)
def test_what_a_line_asks_for(line: str) -> None:
    assert read_line(line) == LINES[line]


@pytest.mark.parametrize("line", ["/nosuch", "/undoo", "/plan ", "/quit now", "/repair 'a"])
def test_lines_that_are_refused(line: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_line(line)
    assert caught.value.remedy


def test_what_is_told_of_earlier_tasks_is_bounded_and_the_latest_most() -> None:
    turns = [Turn(asked=f"task {number}", outcome="done", said="line\n" * 2000) for number in range(200)]
    told = since(turns, 4000).told
    assert 1000 < len(told) < 4400
    assert told.index("task 199") < told.index("task 198"), "who has room for less cuts the end"
    assert "task 0\n" not in told
    assert told.count("more lines did not fit]") == 2, "the others are told without their answers"
    assert told.count("User: ") == 12
    assert told.endswith("\n\n(188 earlier left out)")
    assert since([], 4000).told == ""
    assert since(turns[:1]).told.count("line\n") > 700


NEW = (
    "diff --git a/tests/test_new.py b/tests/test_new.py\n--- /dev/null\n+++ b/tests/test_new.py\n@@ -0,0 +1,2 @@\n"
    "+def test_new():\n+    assert 1\n"
)
OLD = "diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -40,7 +50,8 @@ def f():\n a\n b\n c\n+d\n"


def test_what_a_task_goes_on_with() -> None:
    turns = [
        Turn(asked="add it", outcome="done", diff=OLD + NEW, run_id="1"),
        Turn(asked="why?", outcome="done", said="long\n" * 400),
        Turn(asked="no, otherwise", outcome="not_achieved", tried=OLD, run_id="2"),
        Turn(asked="!ls", outcome="done", said="app.py"),
    ]
    found = since(turns)
    assert (found.places, found.made) == (("app.py:43",), ("tests/test_new.py",)), "as what was tried was put back"
    assert f"Tried, and put back:\n{OLD}" in found.told
    assert "long" not in found.told
    assert "User: add it\nOutcome: done; changed app.py, tests/test_new.py (new)" in found.told
    assert since(turns[:2]).places == ("app.py:53", "tests/test_new.py:4")


def test_what_the_last_answer_names_is_shown_first() -> None:
    said = (
        "`is_path` in lib/query.py 80-96, called at `app.py:7`; see cmd.go (line 12) and web.py, lines 3-4. Not 3.11 2."
    )
    turns = [Turn(asked="add it", outcome="done", diff=OLD), Turn(asked="where is it?", outcome="done", said=said)]
    assert since(turns).places == ("lib/query.py:80", "app.py:7", "cmd.go:12", "web.py:3", "app.py:53")
    later = Turn(asked="and that", outcome="done", diff=NEW, said=said)
    assert since([*turns, later]).places == ("tests/test_new.py:4",), "an older answer may be about anything"


def test_of_older_tasks_it_is_told_what_was_asked_and_what_became_of_it() -> None:
    asked = "please " * 100
    older = [
        Turn(asked=asked, outcome="done", said="long\n" * 40, diff=OLD),
        Turn(asked="and that", outcome="not_achieved", tried=NEW),
        Turn(asked="the same", outcome="not_achieved", tried=OLD.replace("app", "web")),
    ]
    newest = Turn(asked="why?", outcome="done", said="word " * 9999)
    newer = [Turn(asked="once more", outcome="done", diff=NEW + OLD), newest]
    told = since([*older, *newer]).told
    full, short = told.split("In short, before that:\n\n")
    assert full.count("diff --git") == 2
    assert "wor\n" not in full, "words are not cut"
    assert f"the same\nOutcome: not_achieved\nTried, and put back:\n{older[2].tried}" in short, "it is nowhere else"
    assert "User: and that\nOutcome: not_achieved\nTried, and put back as above: tests/test_new.py (new)\n\n" in short
    assert short.endswith("please …\nOutcome: done; changed app.py")
    assert len(short.rpartition("User: ")[2]) < 300
    tried = [replace(older[0], said="", diff="", tried=OLD), newer[0]]
    assert since(tried).told.count("diff --git a/app.py") == 1, "what was tried and then done is shown once"


def test_what_is_moved_or_only_looks_like_a_header_was_not_made() -> None:
    gone = NEW.replace(
        "--- /dev/null\n+++ b/tests/test_new.py\n@@ -0,0 +1,2 @@", "--- a/t.py\n+++ /dev/null\n@@ -1,2 +0,0 @@"
    )
    moved = gone.replace("\n+def", "\n-def").replace("\n+    a", "\n-    a") + NEW
    forged = OLD.replace("+d\n", "--- /dev/null\n+++ b/tests/test_app.py\n")
    for diff in (moved, forged):
        assert since([Turn(asked="do", outcome="done", diff=diff)]).made == ()


def test_a_task_that_was_undone_is_told_as_that() -> None:
    task = Turn(asked="add it", outcome="done", diff=OLD + NEW, run_id="1")
    undone, redone = Turn(asked="/undo", outcome="done", undid="1"), Turn(asked="/redo", outcome="done", redid="1")
    found = since([task, undone])
    assert (found.told, found.places, found.made) == ("User: add it\nOutcome: done, and undone since", (), ())
    assert since([task, undone, redone]) == since([task])


def test_turns_on_disk(tmp_path: Path) -> None:
    kept = Turns(tmp_path / "kept", tmp_path)
    assert kept.read() == []
    turns = [Turn(asked=str(number), outcome="done", diff="+++ b/caf\udce9.py") for number in range(3)]
    for turn in turns:
        kept.add(turn)
    assert kept.path is not None
    with kept.path.open("ab") as stream:
        stream.write(b'{"asked": 1}\nno\n{"asked": "\xff", "outcome": "done"}\n')
    assert Turns(tmp_path / "kept", tmp_path).read() == turns
    assert Turns(tmp_path / "kept", tmp_path / "kept").read() == []
    kept.forget()
    kept.forget()
    assert kept.read() == []
    assert Turns(None, tmp_path).read() == []
