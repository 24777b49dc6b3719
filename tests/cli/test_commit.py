"""`codur commit` and `codur run --commit`: what is committed, in which words, and what is refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from codur.cli.commit_words import commit_wish, task_to_commit
from codur.cli.default_command import with_command
from tests.cli.kit import Ran, codur, codur_here, the_object
from tests.runs.kit import KEY, REPAIRABLE, fill
from tests.support.groq_server import GroqServer, json_reply, text
from tests.tools.git.test_git_under_way import conflict
from tests.tools.git_vectors import git


@pytest.fixture
def repository(project: Path) -> Path:
    """A repository with a program that is repaired without a model, and work of the user's own."""
    fill(project, {**REPAIRABLE, "notes.txt": "milk\n", ".gitignore": "__pycache__\n"})
    git(project, "init", "-q", "-b", "main")
    git(project, "config", "user.name", "Ann")
    git(project, "config", "user.email", "ann@example.org")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    (project / "notes.txt").write_text("milk, eggs\n")
    return project


def commit(project: Path, home: Path, *words: str) -> Ran:
    return codur_here("commit", *words, cwd=project, home=home)


def test_a_fix_is_committed_and_what_was_dirty_before_is_not(repository: Path, home: Path) -> None:
    ran = codur("fix main.py", "--offline", cwd=repository, home=home)
    assert ran.code == 0, ran.err
    shown = commit(repository, home, "--dry-run")
    assert "would be committed: main.py" in shown.out
    assert git(repository, "log", "--format=%s").strip() == "first"
    told = json.loads(commit(repository, home, "-m", "again", "--dry-run", "--json").out)
    assert (told["message"], told["files"], told["left"], told["commit"]) == ("again", ["main.py"], [], None)
    git(repository, "config", "--unset", "user.email")
    unknown = commit(repository, home)
    assert (unknown.code, "git does not know who commits" in unknown.err) == (2, True)
    assert "git config user.name" in unknown.err
    git(repository, "config", "user.email", "ann@example.org")
    done = commit(repository, home)
    assert done.code == 0, done.err
    assert "fix main.py" in done.out
    said = git(repository, "log", "-1", "--format=%an%n%B")
    assert said.startswith("Ann\nfix main.py\n\n`range(start, end)`")
    assert "Checked: " in said
    assert git(repository, "show", "--format=", "--name-only", "HEAD").split() == ["main.py"]
    assert git(repository, "status", "--porcelain") == " M notes.txt\n"
    again = commit(repository, home)
    assert (again.code, "the last commit has all of it already" in again.err) == (2, True)
    assert codur_here("undo", cwd=repository, home=home).code == 0
    assert (repository / "main.py").read_text() == REPAIRABLE["main.py"]
    back = commit(repository, home)
    assert (back.code, "was put back" in back.err, "--redo" in back.err) == (2, True, True)


def test_of_several_files_those_that_are_named_are_committed(repository: Path, home: Path) -> None:
    fill(repository, {"b.txt": "one\n", "c.txt": "one\n"})
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "more")
    for path in ("b.txt", "c.txt"):
        assert codur(f"replace one with two in {path}", cwd=repository, home=home).code == 0
    none = commit(repository, home, "--only", "notes.txt")
    assert (none.code, "already" in none.err) == (2, True)
    fill(repository, {"notes.txt": "milk, eggs, tea\n", "new.txt": "own\n", "other.txt": "own\n"})
    own = commit(repository, home, "--only", "notes.txt", "--only", "new.txt", "-m", "own")
    assert own.code == 0, own.err
    assert git(repository, "show", "--format=", "--name-only", "HEAD").split() == ["new.txt", "notes.txt"]
    (repository / "other.txt").unlink()
    done = commit(repository, home, "--only", "./b.txt")
    assert done.code == 0, done.err
    assert git(repository, "show", "--format=%s", "--name-only", "HEAD").split("\n\n") == [
        "replace one with two in b.txt",
        "b.txt\n",
    ]
    assert git(repository, "status", "--porcelain").split() == ["M", "c.txt"]
    both = [run["id"] for run in json.loads(codur_here("runs", "--json", cwd=repository, home=home).out)]
    told = json.loads(commit(repository, home, *both, "--dry-run", "--json").out)
    assert (told["files"], told["message"].splitlines()[0]) == (["c.txt"], "replace one with two in c.txt")
    assert "b.txt" not in told["message"]
    rest = commit(repository, home, "--all", "--only", "c.txt", "-m", "rest")
    assert (rest.code, git(repository, "status", "--porcelain")) == (0, "")
    none = commit(repository, home, "--only", "nofile.py")
    assert (none.code, "there is no file nofile.py" in none.err, "already" in none.err) == (2, True, False)


def test_a_run_that_commits_itself(repository: Path, home: Path) -> None:
    ran = codur("fix main.py", "--offline", "--commit", "--json", cwd=repository, home=home)
    value = the_object(ran.out)
    assert (ran.code, value["exit_code"]) == (0, 0), ran.err
    head = git(repository, "rev-parse", "HEAD").strip()
    assert value["notes"][-1].startswith(f"committed {head[:10]}: fix main.py")
    again = commit(repository, home, "-m", "again", "--dry-run")
    assert (again.code, "the last commit has all of it already" in again.err) == (2, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator can give files away")
def test_where_the_repository_is_another_users_the_remedies_are_named(repository: Path, home: Path) -> None:
    os.chown(repository / ".git", 12345, 12345)
    repository = repository.rename(repository.with_name("a repository"))
    ran = codur_here("run", "--offline", "--commit", "fix main.py", cwd=repository, home=home)
    assert ran.code == 2
    assert f"chown -R 0 '{repository}/.git'" in ran.err
    assert f"git config --global --add safe.directory '{repository}'\n" in ran.err


def test_what_all_runs_left_uncommitted_is_committed_together(repository: Path, home: Path) -> None:
    fill(repository, {"todo.txt": "zero\n"})
    git(repository, "add", "todo.txt")
    git(repository, "commit", "-q", "-m", "todo")
    for task in ('append "one" to todo.txt', 'append "two" to todo.txt', "fix main.py"):
        ran = codur(task, "--offline", cwd=repository, home=home)
        assert ran.code == 0, ran.err
    done = codur("please commit this", cwd=repository, home=home)
    assert done.code == 0, done.err
    assert git(repository, "show", "--format=", "--name-only", "HEAD").split() == ["main.py", "todo.txt"]
    assert git(repository, "show", "HEAD:todo.txt") == "zero\none\ntwo"
    said = git(repository, "log", "-1", "--format=%B")
    assert all(words in said for words in ('append "one"', 'append "two"', "fix main.py"))
    assert git(repository, "status", "--porcelain") == " M notes.txt\n"
    again = commit(repository, home)
    assert (again.code, "the last commit has all of it already" in again.err) == (2, True)
    # What was committed by hand in between is no obstacle.
    assert codur('append "three" to todo.txt', "--offline", cwd=repository, home=home).code == 0
    git(repository, "commit", "-q", "-m", "mine", "todo.txt")
    for task in ('append "four" to todo.txt', 'replace "zero" with "0" in todo.txt'):
        assert codur(task, "--offline", cwd=repository, home=home).code == 0
    assert commit(repository, home, "-m", "four").code == 0
    assert git(repository, "show", "HEAD:todo.txt") == "0\none\ntwo\nthree\nfour"


def test_what_was_left_before_a_commit_of_other_files_is_not_forgotten(repository: Path, home: Path) -> None:
    assert codur("fix main.py", "--offline", cwd=repository, home=home).code == 0
    git(repository, "commit", "-q", "-m", "mine", "--date=2090-01-01T00:00:00Z", "notes.txt")
    git(repository, "rebase", "-q", "--autostash", "--force-rebase", "--committer-date-is-author-date", "HEAD~1")
    assert git(repository, "log", "-1", "--format=%cs") == "2090-01-01\n"
    assert codur('create new.txt with "x"', "--offline", cwd=repository, home=home).code == 0
    done = commit(repository, home)
    assert done.code == 0, done.err
    assert git(repository, "show", "--format=", "--name-only", "HEAD").split() == ["main.py", "new.txt"]
    assert git(repository, "status", "--porcelain") == ""


def test_a_run_that_is_named_and_was_undone_is_not_passed_over(repository: Path, home: Path) -> None:
    ran = [
        codur(task, "--offline", "--json", cwd=repository, home=home)
        for task in ("fix main.py", 'create new.txt with "x"')
    ]
    ids = [the_object(each.out)["run_id"] for each in ran]
    assert codur_here("undo", ids[0], cwd=repository, home=home).code == 0
    refused = commit(repository, home, *ids)
    assert (refused.code, "was put back" in refused.err) == (2, True)
    assert commit(repository, home).code == 0
    assert git(repository, "show", "--format=", "--name-only", "HEAD") == "new.txt\n"


def test_everything_is_committed_but_what_git_does_not_have(repository: Path, home: Path) -> None:
    assert codur("fix main.py", "--offline", cwd=repository, home=home).code == 0
    assert codur('create new.txt with "x"', "--offline", cwd=repository, home=home).code == 0
    (repository / "mine.txt").write_text("mine\n")
    (repository / "build.log").write_text("ignored\n")
    (repository / ".gitignore").write_text("__pycache__\n*.log\n")
    ran = codur("ok. commit all my changes with message 'it's all'", cwd=repository, home=home)
    assert ran.code == 0, ran.err
    assert "left out: mine.txt" in ran.out
    assert "build.log" not in ran.out
    assert git(repository, "log", "-1", "--format=%s") == "it's all\n"
    names = git(repository, "show", "--format=", "--name-only", "HEAD").split()
    assert names == [".gitignore", "main.py", "new.txt", "notes.txt"]
    assert git(repository, "status", "--porcelain") == "?? mine.txt\n"
    none = codur("commit everything", cwd=repository, home=home)
    assert (none.code, "all of it already, but for what no task made: mine.txt" in none.err) == (2, True)


def test_everything_without_a_run(repository: Path, home: Path) -> None:
    git(repository, "rm", "-q", ".gitignore")
    ran = commit(repository, home, "--all", "-m", "mine")
    assert ran.code == 0, ran.err
    assert git(repository, "show", "--format=", "--name-only", "HEAD").split() == [".gitignore", "notes.txt"]
    (repository / "notes.txt").write_text("milk\n")
    unsaid = commit(repository, home, "--all")
    assert unsaid.code == 0, unsaid.err
    assert git(repository, "log", "-1", "--format=%s") == "Change notes.txt\n"


def with_service(home: Path, server: GroqServer) -> None:
    fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})


def test_a_model_words_it_once_where_one_can_be_asked(repository: Path, home: Path) -> None:
    body = "It went too far.\n\nSigned-off-by: Eve <e@example.org>\nCloses #12\nFixes https://example.org/o/r/issues/12"
    body += "\n[skip ci]\nCloses\nGH-12" + "\n" * 20_000
    reply = json_reply({"subject": "Stop the sum\nat its end.", "body": body})
    for task in ("fix main.py", "create key.pem with 'inner'", f"create new.txt with 'password {KEY}'"):
        ran = codur(task, "--offline", cwd=repository, home=home)
        assert ran.code == 0, ran.err
    with GroqServer([reply]) as server:
        with_service(home, server)
        given = codur("commit", "--dry-run", "-m", "mine", cwd=repository, home=home, GROQ_API_KEY=KEY)
        unasked = codur("commit", "--dry-run", cwd=repository, home=home, GROQ_API_KEY=KEY)
        assert "mine" in given.out
        assert "fix main.py" in unasked.out
        assert server.requests == []
        done = codur("commit this with a good message", cwd=repository, home=home, GROQ_API_KEY=KEY)
        assert done.code == 0, done.err
        (request,) = server.requests
    assert git(repository, "log", "-1", "--format=%s%n%b").startswith("Stop the sum at its end\nIt went too far.")
    said = git(repository, "log", "-1", "--format=%B")
    assert [
        word for word in ("Signed-off-by", "Closes", "Fixes", "skip ci", "GH-12", "create key.pem") if word in said
    ] == []
    assert "Stop the sum at its end" in done.out
    assert "It went too far." in done.out
    asked = json.dumps(request.body)
    assert [word for word in ("- fix main.py", "+password", "- first", "range(") if word not in asked] == []
    assert [word for word in (KEY, "+inner") if word in asked] == []


def test_what_is_staged_is_committed_as_it_is_and_nothing_else(repository: Path, home: Path) -> None:
    fill(repository, {"notes.txt": "staged\n", "sub/new.txt": "own\n"})
    git(repository, "add", ".")
    fill(repository, {"notes.txt": "staged\nnot staged\n", "main.py": "other\n"})
    shown = commit(repository, home, "--staged", "--dry-run")
    assert shown.out.endswith("\nwould be committed: notes.txt\nwould be committed: sub/new.txt\n")
    hook = repository / ".git" / "hooks" / "pre-commit"
    fill(repository, {".git/hooks/pre-commit": "#!/bin/sh\ngit diff --cached --name-only; exit 1\n"})
    hook.chmod(0o755)
    no = commit(repository, home, "--staged", "-m", "no")
    assert (no.code, "a hook may have refused: git failed: notes.txt sub/new.txt" in no.err) == (2, True), no.err
    hook.unlink()
    with GroqServer([json_reply({"subject": "Note what is staged", "body": ""})]) as server:
        with_service(home, server)
        wish = "write a commit message for my staged changes and commit them"
        done = codur(wish, cwd=repository, home=home, GROQ_API_KEY=KEY)
        (request,) = server.requests
    assert (done.code, "Note what is staged" in done.out) == (0, True), done.err
    assert "+staged" in (asked := json.dumps(request.body))
    assert "not staged" not in asked
    assert git(repository, "show", "HEAD:notes.txt", "HEAD:sub/new.txt") == "staged\nown\n"
    assert git(repository, "status", "--porcelain") == " M main.py\n M notes.txt\n"
    none = codur("commit my staged changes", cwd=repository, home=home)
    assert (none.code, "nothing is staged" in none.err) == (2, True)
    assert commit(repository, home, "--staged", "--only", "main.py").code == 2
    git(repository, "add", "main.py")
    assert commit(repository / "sub", home, "--staged", "--amend").code == 0
    assert git(repository, "show", "--format=%s", "--name-only", "HEAD").split() == [
        *("Note", "what", "is", "staged", "main.py", "notes.txt", "sub/new.txt")
    ]


def test_a_merge_that_is_under_way_is_finished_as_the_remedy_says(tmp_path: Path, home: Path) -> None:
    root = conflict(tmp_path, "merge", "side")
    refused = commit(root, home)
    assert (refused.code, "a merge is under way in this repository" in refused.err) == (2, True)
    remedy = "Resolve the conflicts (a.txt: lines 2-6), then: git add a.txt && git commit --no-edit"
    assert remedy in " ".join(refused.err.split()), refused.err
    (root / "a.txt").write_text("both\n")
    assert "Finish it: git add a.txt && git commit --no-edit" in " ".join(commit(root, home, "--staged").err.split())


def test_what_was_to_be_committed_is_so_by_the_option(repository: Path, home: Path) -> None:
    task = "fix main.py; commit it"
    ran = codur("run", task, "--offline", cwd=repository, home=home)
    assert (ran.code, "it was not committed" in ran.err, "codur commit" in ran.err) == (1, True, True), ran.err
    assert git(repository, "status", "--porcelain") == " M main.py\n M notes.txt\n"
    assert commit(repository, home).code == 0
    fill(repository, REPAIRABLE)
    git(repository, "commit", "-qm", "broken again", "main.py")
    ran = codur("run", task, "--commit", "--offline", cwd=repository, home=home)
    assert (ran.code, git(repository, "status", "--porcelain")) == (0, " M notes.txt\n"), ran.err


def test_accepted_instructions_say_what_form_a_message_has(repository: Path, home: Path) -> None:
    (repository / "AGENTS.md").write_text(
        "Use tabs.\n\n# Commits\n\n- The subject begins with K-12:\n\n# Code\n\nA committee decides.\n"
    )
    assert codur("fix main.py", "--offline", cwd=repository, home=home).code == 0
    reply = json_reply({"subject": "K-12: stop the sum at its end", "body": ""})
    with GroqServer([reply, reply]) as server:
        with_service(home, server)
        assert codur("commit", cwd=repository, home=home, GROQ_API_KEY=KEY).code == 0
        assert codur("commit", "--undo", cwd=repository, home=home, GROQ_API_KEY=KEY).code == 0
        assert codur("trust", "--yes", cwd=repository, home=home).code == 0
        assert codur("commit", cwd=repository, home=home, GROQ_API_KEY=KEY).code == 0
        unaccepted, accepted = (json.dumps(request.body) for request in server.requests)
    assert "K-12" not in unaccepted
    assert "K-12" in accepted
    assert [word for word in ("Use tabs", "committee") if word in accepted] == []
    assert git(repository, "log", "-1", "--format=%s") == "K-12: stop the sum at its end\n"


def test_what_was_untracked_is_neither_committed_nor_told(repository: Path, home: Path) -> None:
    git(repository, "rm", "-q", "--cached", "notes.txt")
    (repository / "notes.txt").write_text("sekret\n")
    (repository / ".gitignore").write_text("__pycache__\nnotes.txt\n")
    with GroqServer([json_reply({"subject": "Forget the notes", "body": ""})]) as server:
        with_service(home, server)
        done = codur("commit", "--all", cwd=repository, home=home, GROQ_API_KEY=KEY)
        assert done.code == 0, done.err
        (request,) = server.requests
    assert "__pycache__" in json.dumps(request.body)
    assert "sekret" not in json.dumps(request.body)
    shown = git(repository, "show", "--format=", "--name-status", "HEAD").splitlines()
    assert shown == ["M\t.gitignore", "D\tnotes.txt"]


def test_without_an_answer_the_words_of_the_task_are_taken(repository: Path, home: Path) -> None:
    assert codur("fix main.py", "--offline", cwd=repository, home=home).code == 0
    with GroqServer([text("no JSON")]) as server:
        with_service(home, server)
        done = codur("commit", "--all", cwd=repository, home=home, GROQ_API_KEY=KEY)
        assert len(server.requests) == 1
        assert "+milk, eggs" in json.dumps(server.requests[0].body)
    assert done.code == 0, done.err
    assert git(repository, "log", "-1", "--format=%s") == "fix main.py\n"
    assert "gave no message in time" in done.out


def test_a_commit_is_taken_back_and_nothing_else(repository: Path, home: Path) -> None:
    assert codur("fix main.py", "--offline", cwd=repository, home=home).code == 0
    other = commit(repository, home, "--undo")
    assert (other.code, "was not made by Codur" in other.err) == (2, True)
    assert commit(repository, home, "--offline").code == 0
    made, fixed = git(repository, "rev-parse", "HEAD").strip(), (repository / "main.py").read_text()
    git(repository, "add", "notes.txt")
    shown = commit(repository, home, "--undo", "--dry-run", "--json")
    assert json.loads(shown.out)["commit"]["hash"] == made == git(repository, "rev-parse", "HEAD").strip()
    assert commit(repository, home, "--undo", "-m", "x").code == 2
    undone = codur_here("undo the commit", cwd=repository, home=home)
    assert (undone.code, "main.py" in undone.out) == (0, True), undone.err
    assert git(repository, "log", "--format=%s") == "first\n"
    assert git(repository, "status", "--porcelain") == " M main.py\nM  notes.txt\n"
    assert (repository / "main.py").read_text() == fixed
    # What was taken back can be committed anew, also taken back anew.
    assert "fix main.py" in commit(repository, home, "--offline").out
    assert commit(repository, home, "--undo").code == 0
    assert git(repository, "status", "--porcelain") == " M main.py\nM  notes.txt\n"


def test_what_came_since_goes_into_the_last_commit(repository: Path, home: Path) -> None:
    assert codur("fix main.py", "--offline", "--commit", cwd=repository, home=home).code == 0
    said = git(repository, "log", "-1", "--format=%B")
    nothing = commit(repository, home, "--amend", "--only", "absent.py")
    assert (nothing.code, git(repository, "log", "-1", "--format=%B")) == (2, said), nothing.err
    assert git(repository, "status", "--porcelain") == " M notes.txt\n"
    assert codur('create new.txt with "x"', "--offline", cwd=repository, home=home).code == 0
    amended = codur_here("add that to the last commit", cwd=repository, home=home)
    assert amended.code == 0, amended.err
    assert git(repository, "log", "-1", "--format=%B") == said
    assert git(repository, "log", "--format=%s").count("\n") == 2
    assert git(repository, "show", "--format=", "--name-only", "HEAD").split() == ["main.py", "new.txt"]
    assert git(repository, "status", "--porcelain") == " M notes.txt\n"
    # What else the commit holds stays in it, and what is staged stays staged.
    (repository / "more.txt").write_text("y\n")
    git(repository, "add", "notes.txt")
    assert commit(repository, home, "--all", "-m", "rest").code == 0
    git(repository, "add", "more.txt")
    assert codur('append "b" to new.txt', "--offline", cwd=repository, home=home).code == 0
    assert commit(repository, home, "--amend").code == 0
    assert git(repository, "show", "--format=%s", "--name-only", "HEAD").split() == ["rest", "new.txt", "notes.txt"]
    assert git(repository, "status", "--porcelain") == "A  more.txt\n"
    git(repository, "tag", "v1")
    known = commit(repository, home, "--amend")
    assert (known.code, "v1 has the last commit too" in known.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("update-ref", "refs/remotes/origin/main", "HEAD"), "origin/main has the last commit too"),
        (("tag", "v1"), "v1 has the last commit too"),
        (("commit", "--amend", "-q", "-m", "mine"), "was not made by Codur"),
        (("update-ref", "MERGE_HEAD", "HEAD"), "a merge is under way"),
    ],
)
def test_a_commit_that_others_know_is_not_taken_back(
    repository: Path, home: Path, command: tuple[str, ...], why: str
) -> None:
    assert codur("fix main.py", "--offline", "--commit", cwd=repository, home=home).code == 0
    git(repository, *command)
    head = git(repository, "rev-parse", "HEAD")
    undone = commit(repository, home, "--undo")
    assert (undone.code, why in undone.err) == (2, True), undone.err
    assert git(repository, "rev-parse", "HEAD") == head


def test_a_commit_gets_another_message_and_nothing_else(repository: Path, home: Path) -> None:
    assert "not made by Codur" in commit(repository, home, "--reword", "Say more").err
    assert codur("fix main.py", "--offline", cwd=repository, home=home).code == 0
    assert commit(repository, home, "-m", "try again").code == 0
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    done = codur_here("change the commit message to 'Fix the range'", cwd=repository, home=home)
    assert (done.code, "Fix the range" in done.out) == (0, True), done.err
    assert git(repository, "log", "--format=%s").split("\n")[:2] == ["Fix the range", "first"]
    assert (git(repository, "rev-parse", "HEAD^{tree}"), git(repository, "status", "--porcelain")) == (
        tree,
        " M notes.txt\n",
    )
    assert commit(repository, home, "--undo").code == 0


def test_where_git_is_at_work_no_commit_is_taken_back(repository: Path, home: Path) -> None:
    assert codur("fix main.py", "--offline", "--commit", cwd=repository, home=home).code == 0
    head = git(repository, "rev-parse", "HEAD")
    (repository / ".git" / "index.lock").touch()
    assert commit(repository, home, "--undo").code == 2
    (repository / ".git" / "index.lock").unlink()
    assert (git(repository, "rev-parse", "HEAD"), git(repository, "status", "--porcelain")) == (head, " M notes.txt\n")


def test_what_is_staged_of_a_commits_files_keeps_it(repository: Path, home: Path) -> None:
    assert codur("fix main.py", "--offline", "--commit", cwd=repository, home=home).code == 0
    with (repository / "main.py").open("a") as file:
        file.write("# more\n")
    git(repository, "add", "main.py")
    undone = commit(repository, home, "--undo")
    assert (undone.code, "changes of main.py are staged" in undone.err) == (2, True), undone.err


WISHES = {
    **dict.fromkeys(
        (
            "change the last commit message to 'Split app.py'",
            "reword the commit to Split app.py.",
            'please change that commit message into "Split app.py"',
        ),
        ("commit", "--reword=Split app.py"),
    ),
    **dict.fromkeys(
        (
            *(
                "git init",
                "put this under git please",
                "Put the project under version control.",
                "make this a git repo",
            ),
            *(
                "no, you do it. git init and a first commit",
                "ok, initialise a git repository here and commit everything",
            ),
        ),
        ("commit", "--init"),
    ),
    **dict.fromkeys(
        ("amend the last commit with it", "ok, add that to the commit please", "fold this into your last commit"),
        ("commit", "--amend"),
    ),
    **dict.fromkeys(
        (
            "undo the commit",
            "ok, uncommit that please",
            "take that commit back",
            "no, undo your last commit.",
            "undo the last commit but keep the files",
        ),
        ("commit", "--undo"),
    ),
    "commit": ("commit",),
    "Commit this.": ("commit",),
    "commit everything so far: show it in help": ("commit", "--all", "--message=show it in help"),
    "commit this: fix the header": ("commit", "--message=fix the header"),
    "please commit this": ("commit",),
    "ok thx. commit that": ("commit",),
    "hm? i mean the argsMinusFirstX fix, commit it": ("commit",),
    "ok set it. commit the fix now": ("commit",),
    "commit that please": ("commit",),
    "ok, commit this with a good message": ("commit",),
    "looks good. can you commit these changes with a nice commit message please": ("commit",),
    "make a commit of this": ("commit",),
    "commit the last change": ("commit", "last"),
    "forget it then. commit everything we have so far": ("commit", "--all"),
    "commit all": ("commit", "--all"),
    "commit all of my changes": ("commit", "--all"),
    **dict.fromkeys(
        (f"commit all {what}" for what in ("of it", "the fixes", "the edits", "these changes")), ("commit",)
    ),
    "commit what we have": ("commit", "--all"),
    **dict.fromkeys(
        (
            *("commit my staged changes", "commit what is staged with a good message", "commit only what's staged"),
            *("commit the staged files", "please commit all staged changes", "commit the index", "commit staged"),
            *("write a commit message for my staged changes and commit them", "commit what i've staged, please"),
        ),
        ("commit", "--staged"),
    ),
    "commit my staged changes as 'fix it'": ("commit", "--staged", "--message=fix it"),
    "write a good commit message and commit it": ("commit",),
    "draft a commit message for all my changes, then commit": ("commit", "--all"),
    "Thanks! commit my work, please": ("commit", "--all"),
    "commit all my changes with message 'fix flags, don't break'": (
        *("commit", "--all"),
        "--message=fix flags, don't break",
    ),
    'commit this "fix it"': ("commit", "--message=fix it"),
    "commit this with the message: fix the flags": ("commit", "--message=fix the flags"),
    'commit it as "fix"': ("commit", "--message=fix"),
    "commit with message “fix it”": ("commit", "--message=fix it"),
}
NO_WISHES = (
    *("change the commit message to something better and push", "change the commit to use the new name", "reword it"),
    *(
        "no git init please",
        "ok, no git init",
        "never mind git init",
        "put it in git please",
        "put that in git",
        "git init fails",
        "git",
        "put this under git and add a .gitignore",
        "what does git init do?",
        "make it a git alias",
    ),
    *("write a commit message for my staged changes", "write a commit message and push", "commit the staged.py"),
    *("did it commit", "hm, did it commit?", "i meant undo the first change. commit"),
    *("commit X to memory", "commit this to memory", "add a commit command", "fix the bug and commit it"),
    *("commit the parser first", "commit and push", "commit 'a b.txt'", "commit foo.py", "commit this and push it"),
    *("commit everything but notes.txt", "don't commit this", "how do i commit this?", "commit 'a' and 'b'"),
    *("commit this with message 'a' and push", "commit this with the message fix it and push"),
    *(
        "undo the commit and the fix",
        "revert the commit",
        "undo the commit message change",
        "undo the last two commits",
        "amend the commit message",
    ),
    *("commit with message foo but leave out secrets.env", "commit this with message foo. Also fix the parser"),
    *("commit all of it with message fix; do not include tests", "commit this with message foo, then fix the bug"),
    *("commit this with message fix bug and then update the README", "commit it `src/a.py`", 'commit this "foo.py"'),
    *('commit the changes "src/a.py"', "commit it as `foo`"),
    *("", "ok, please " * 150 + "commit this x", "commit it with message " + "'a" * 900),
)


def test_a_task_that_ends_with_a_commit() -> None:
    assert task_to_commit("fix the failing tests and commit") == "fix the failing tests"
    assert task_to_commit("fix shop.py, then commit the fix.") == "fix shop.py"
    for said in ("it should insert the row and then commit", "fix it and don't commit", "add a flag and commit hooks"):
        assert task_to_commit(said) == ""
    assert with_command(["-C", "x", "fix it and commit it"], commands=(), app_options=()) == [
        *("run", "--commit", "-C", "x", "fix it")
    ]


def test_a_wish_to_commit_in_everyday_words() -> None:
    assert {text: commit_wish(text) for text in WISHES} == WISHES
    assert {text: commit_wish(text) for text in NO_WISHES} == dict.fromkeys(NO_WISHES)


def test_without_a_repository_nothing_is_begun(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = codur_here("fix main.py", "--offline", "--commit", cwd=project, home=home)
    assert (ran.code, ran.out) == (2, "")
    assert "not in a git repository" in ran.err
    assert "codur commit --init" in ran.err
    assert (project / "main.py").read_text() == REPAIRABLE["main.py"]
    assert commit(project, home).code == 2
    assert codur_here("fix main.py", "--commit", "--dry-run", cwd=project, home=home).code == 2


def test_who_commits_is_asked_for_before_the_work(repository: Path, home: Path) -> None:
    git(repository, "config", "--unset", "user.email")
    ran = codur("fix main.py", "--offline", "--commit", "--json", cwd=repository, home=home)
    told = the_object(ran.out)
    assert (ran.code, told["reason"]) == (2, "git does not know who commits; set user.email with git config")
    assert (repository / "main.py").read_text() == REPAIRABLE["main.py"]


def test_work_that_is_done_and_cannot_be_committed_says_why(repository: Path, home: Path) -> None:
    mine = REPAIRABLE["main.py"].replace("range(start, end)", "range(start,end)")  # on the line that is mended
    (repository / "main.py").write_text(mine)
    ran = codur("fix main.py", "--offline", "--commit", "--json", cwd=repository, home=home)
    told = the_object(ran.out)
    assert (ran.code, told["outcome"]) == (2, "done")
    assert told["reason"].startswith("not committed: ")
    assert told["remedy"]


def test_a_repository_is_begun_with_the_files_that_are_meant(project: Path, home: Path) -> None:
    fill(project, {**REPAIRABLE, "lent.db": "x", "__pycache__/a.pyc": "x", ".env": "KEY=x"})
    unknown = codur_here("put this under git please", cwd=project, home=home)
    assert (unknown.code, "git does not know who commits" in unknown.err) == (2, True)
    (home / ".gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.org\n")
    done = codur_here("put this under git please", cwd=project, home=home)
    assert done.code == 0, done.err
    assert "left out: .env, __pycache__/a.pyc, lent.db" in done.out
    assert git(project, "show", "--format=%an %s", "--name-only").split() == [
        *("Ann", "Initial", "commit"),
        *sorted(REPAIRABLE),
    ]
    assert not list((project / ".git").glob("hooks/*"))
    again = codur_here("commit", "--init", cwd=project, home=home)
    assert (again.code, "there is a git repository already" in again.err) == (2, True)
    (project / "sub").mkdir()
    assert "is in the repository of" in codur_here("commit", "--init", cwd=project / "sub", home=home).err


def test_what_git_would_not_add_and_other_repositories_stay_out(project: Path, home: Path) -> None:
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*.mine\n")
    (home / ".gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n")
    fill(project, {**REPAIRABLE, "a.mine": "x", "sub/b.py": "x = 1\n"})
    git(project / "sub", "init", "-q")
    done = commit(project, home, "--init", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["files"], told["left"]) == (sorted(REPAIRABLE), ["sub/"])
    assert commit(project, home, "--undo").code == 0
    assert "a.mine" in git(project, "status", "--porcelain")
    assert "the home directory is no project" in codur_here("commit", "--init", cwd=home, home=home).err


def test_a_repository_begins_on_the_branch_of_the_users_settings(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    (home / ".gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n[init]\ndefaultBranch = trunk\n")
    assert commit(project, home, "--init", "-m", "Begin").code == 0
    assert git(project, "log", "--format=%D %s").strip() == "HEAD -> trunk Begin"


def test_hooks_find_the_users_programs_and_are_told_whole(repository: Path, home: Path) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\npython -c 'import pytest' || exit 1\necho 'message must be conventional: fix: it' >&2\nexit 1\n"
    )
    hook.chmod(0o755)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert codur("fix main.py", "--offline", cwd=repository, home=home).code == 0
    refused = codur_here("commit", cwd=repository, home=home, PATH=path)
    assert (refused.code, "git failed: message must be conventional: fix: it" in refused.err) == (2, True)


@pytest.mark.parametrize("linked", [False, True])
def test_a_hook_from_elsewhere_is_not_gone_past_in_silence(repository: Path, home: Path, *, linked: bool) -> None:
    hook = home / "githooks" / "pre-commit"
    fill(home, {"githooks/pre-commit": "#!/bin/sh\nexit 1\n"})
    hook.chmod(0o755)
    if linked:
        (repository / ".git" / "hooks").mkdir(exist_ok=True)
        (repository / ".git" / "hooks" / "pre-commit").symlink_to(hook)
    else:
        (home / ".gitconfig").write_text("[core]\nhooksPath = ~/githooks\n[commit]\ngpgSign = true\n")
    refused = commit(repository, home, "--all", "-m", "mine")
    assert (refused.code, "is not the repository's own and cannot be run here" in refused.err) == (2, True), refused
    assert "codur commit --no-verify" in refused.err
    done = commit(repository, home, "--all", "-m", "mine", "--no-verify")
    assert (done.code, "not signed" in done.out, "--amend --no-edit -S" in done.out) == (0, not linked, not linked)


def test_secrets_that_are_committed_are_told(repository: Path, home: Path) -> None:
    token = f"ghp_{'a1B2' * 9}"
    fill(repository, {".env": "A=1\n", "new.pem": "x\n"})
    git(repository, "add", ".env")
    git(repository, "commit", "-q", "-m", "env")
    fill(repository, {".env": "A=2\n", "notes.txt": f"milk\n\n{token}\n"})
    key = "note: notes.txt:3 holds what looks like a key or password"
    for more in (("--dry-run",), ()):
        ran = commit(repository, home, "--all", "--offline", *more)
        assert (ran.code, key in ran.out, ".env" in ran.out.partition("left out: ")[2]) == (0, True, True), ran
    assert git(repository, "status", "--porcelain") == " M .env\n?? new.pem\n"
    git(repository, "add", "new.pem")
    for words in (("--staged", "--dry-run"), ("--staged",), ("--only", ".env")):
        told = json.loads(commit(repository, home, *words, "--offline", "--json").out)
        assert told["notes"] == [f"{told['files'][0]} may hold secrets"]
    assert git(repository, "status", "--porcelain") == ""


def test_what_the_check_has_not_seen_is_not_called_checked(repository: Path, home: Path) -> None:
    git(repository, "checkout", "-q", "notes.txt")
    assert codur("fix main.py", "--offline", cwd=repository, home=home).code == 0
    assert "Checked: " in commit(repository, home, "--all", "--offline", "--dry-run").out
    with (repository / "main.py").open("a") as file:
        file.write("def broken(:\n")
    assert commit(repository, home, "--all", "--offline").code == 0
    assert "Checked: " not in git(repository, "log", "-1", "--format=%B")


def test_a_key_of_several_lines_is_told_and_so_is_what_was_not_looked_at(repository: Path, home: Path) -> None:
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n" * 4
    pem = f"KEY = '''\n-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\n'''\n"
    fill(repository, {"main.py": f"{pem}{REPAIRABLE['main.py']}", ".env": "A_TOKEN=Tr0ub4dor-own\n"})
    (repository / "notes.txt").write_text("milk\n++ Tr0ub4dor-own\n")
    told = json.loads(commit(repository, home, "--all", "--offline", "--json").out)
    assert told["notes"] == [
        f"{place} holds what looks like a key or password" for place in ("main.py:1", "notes.txt:2")
    ]
    (repository / "notes.txt").write_text("some line of data that is long enough\n" * 120_000)
    told = json.loads(commit(repository, home, "--all", "--offline", "--json").out)
    assert told["notes"] == ["the change is so large that not all of it was looked at for keys and passwords"]


def test_what_the_users_git_settings_include_may_be_named_by_the_home_directory(repository: Path, home: Path) -> None:
    fill(
        home,
        {
            "d;/work.inc": "[include]\npath = more.inc\n[commit]\ngpgSign = true\n",
            "d;/more.inc": f"[core]\nhooksPath = {home}/hooks\n",
            ".gitconfig": f'[alias]\nst = status\n[includeIf "gitdir:{repository}/"]\npath = "~/d;/work.inc" # mine\n',
        },
    )
    done = commit(repository, home, "--all", "--offline", "-m", "mine")
    assert (done.code, "not signed" in done.out) == (0, True), done
    fill(home, {"hooks/pre-commit": "#!/bin/sh\nexit 1\n"})
    (home / "hooks" / "pre-commit").chmod(0o755)
    fill(repository, {"notes.txt": "milk, eggs, flour\n"})
    refused = commit(repository, home, "--all", "--offline", "-m", "mine")
    assert (refused.code, "pre-commit is not the repository's own" in refused.err) == (2, True), refused


def test_hooks_in_the_home_of_a_user_that_there_is_not_are_none(repository: Path, home: Path) -> None:
    git(repository, "config", "core.hooksPath", "~nosuchuser/h")
    (repository / "notes.txt").write_text("milk, eggs, flour\n")
    ran = commit(repository, home, "--all", "--offline", "-m", "mine")
    assert "internal error" not in ran.err
