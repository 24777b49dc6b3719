"""Requests that read from git, and files that are to be staged. What else changes a repository is never settled."""

from __future__ import annotations

from codur.planning.patterns.named_paths import FileNames, Mention
from codur.planning.patterns.prompt_tokens import Token
from codur.planning.patterns.rules.rule import Found, Rule, Settled, call, only_given, place, unclear

GIT_WRITES = frozenset({"git_stage_files"})
_OF_REPO = "[in git|(of|for|in) (the|this|my|our) [git] (repo|repository|project|workspace|working tree)]"
_CHANGED = (
    "(changed|have changed|were changed|have been changed|are changed|are modified|were modified|have been modified)"
)
_LATEST = "(last|latest|most recent|recent|newest|past|previous)"
_SHOW = "(show|list|display|print|give|see|get)"


def _status(_: Found) -> Settled | None:
    return call("git_status", "Show the branch and the changed files.")


def _diff(found: Found) -> Settled | None:
    if unclear(found):
        return None
    path = place(found)
    revision = found.get("REVISION", "")
    return call("git_diff", f"Show the changes of {path or 'all files'}.", **only_given(path=path, revision=revision))


def _diff_head(_: Found) -> Settled | None:
    return call("git_diff", "Show the changes since the last commit.", revision="HEAD")


def _staged(_: Found) -> Settled | None:
    return call("git_diff", "Show what is staged.", staged=True)


def _log(found: Found) -> Settled | None:
    limit = found.get("NUM", found.get("DASHNUM"))
    if unclear(found) or limit == 0:
        return None
    return call("git_log", "Show the latest commits.", **only_given(limit=limit, path=place(found)))


def _last_message(_: Found) -> Settled | None:
    return call("git_log", "Show the latest commit.", limit=1)


def _stage(found: Found) -> Settled | None:
    """Files that are there under just that name, and names of files that are not: git may know those."""
    mentions = [found["FILE"]] if "FILE" in found else [_named(found.names, token) for token in found["ARGS"]]
    paths = tuple(item.path or item.name for item in mentions if item is not None and (item.exact or item.missing))
    if len(paths) < len(mentions):
        return None
    return call("git_stage_files", f"Stage {', '.join(paths)}.", paths=paths)


def _named(names: FileNames, token: Token) -> Mention | None:
    return names.find(token.text) if token.kind in {"word", "quote", "code"} else None


def _show(found: Found) -> Settled | None:
    revision = found.get("REVISION", "HEAD")
    return call("git_show", f"Show commit {revision}.", revision=revision)


RULES = (
    Rule(
        name="git status",
        phrases=(
            "git status [-s|-sb|--short|-b]",
            f"[{_SHOW}|check] [me] [the] [current] git status {_OF_REPO}",
            f"({_SHOW}|check) [me] [the] [current] (repo|repository|working tree) status",
            f"(what is|what's) the [current] (git|repo|repository) status {_OF_REPO}",
            "(what is|what's) the [current] (status|state) of (the|this|my) (repo|repository|working tree)",
            "(are there|do i have|do we have|have i got) [any] (uncommitted|unstaged|pending|local|unsaved) changes",
            f"(what|which) files {_CHANGED} [since [the] last commit]",
            "(what|which) files (did i|have i|did we) (change|changed|modify|modified|edit|edited)",
            f"{_SHOW} [me] [the|all] (changed|modified|untracked|uncommitted|unstaged) files",
            "(what changed|what has changed|what's changed|what did i change|what have i changed|what did we change)"
            f" {_OF_REPO}",
            "(what is|what's) (uncommitted|untracked|staged and unstaged)",
            "is (anything|something) [still] (uncommitted|unstaged|untracked|modified|changed)",
            "is there (anything|something) [left] (uncommitted|unstaged|untracked|to commit)",
            "is (the|my|this) [git] (working tree|working copy|repo|repository|working directory) (clean|dirty)",
            "(what|which) [git] branch (am i on|are we on|is this|is checked out|is active)",
            "(what is|what's|show|show me) [my|the] [current|active] [git] branch",
            "(zeig|zeige) [mir] [den] git status",
            "was hat sich geändert",
        ),
        build=_status,
    ),
    Rule(
        name="staged changes",
        phrases=(
            "git diff (--staged|--cached)",
            f"{_SHOW} [me] [the|my|all] staged (changes|diff|files)",
            "(what is|what's) staged",
        ),
        build=_staged,
    ),
    Rule(
        name="git diff",
        phrases=(
            "git diff [--] [FILE|DIR]",
            "git diff REVISION [--] [FILE|DIR]",
            "diff [FILE]",
            "[the] [git] diff (of|for|in) [the] [file] (FILE|DIR)",
            "(what is|what's) the [git|current] diff (of|for|in) [the] [file] (FILE|DIR)",
            f"{_SHOW} [me] [the|my|a] [current] git diff [(of|for|in) [the] [file] (FILE|DIR)]",
            f"{_SHOW} [me] [the|my|a] [current|local|uncommitted|unstaged] (diff|changes)"
            " [(of|for|in|to) [the] [file] (FILE|DIR)]",
            f"{_SHOW} [me] what [has|have|i] changed [in [the] [file] FILE]",
            "(what are|what're) (my|the) [current|local|uncommitted|unstaged] changes [(in|to) [the] [file] FILE]",
            "(what changed|what has changed|what's changed|what did i change|what have i changed) in [the] [file] FILE",
            "(what is|what's) the [git|current] diff",
        ),
        build=_diff,
    ),
    Rule(
        name="changes since the last commit",
        phrases=(
            "(what changed|what has changed|what's changed|what did i change|what have i changed)"
            " since [the|my] last commit",
            f"{_SHOW} [me] [all] [the|my] changes since [the|my] last commit",
        ),
        build=_diff_head,
    ),
    Rule(
        name="git log",
        phrases=(
            "git log [--oneline] [DASHNUM|-n NUM] [--oneline] [--] [FILE|DIR]",
            f"{_SHOW} [me] [the] git (log|history) [(of|for) [the] [file] FILE]",
            f"[{_SHOW}] [me] [the] [{_LATEST}] [git] commit (log|history|messages) [(of|for) [the] [file] FILE]",
            f"[{_SHOW}] [me] [the] {_LATEST} git (log|history) [(of|for) [the] [file] FILE]",
            f"[{_SHOW}] [me] [the] [git] history of [the] [file] FILE",
            f"[{_SHOW}] [me] [the] {_LATEST} [NUM] [git] commits [(of|for|to|on) [the] [file] FILE]",
            f"{_SHOW} [me] [the|all] [git] commits [(of|for|to|on) [the] [file] FILE]",
            f"[{_SHOW}] [me] [the] NUM {_LATEST} [git] commits",
            f"(what are|what were) the {_LATEST} [NUM] [git] commits",
            "zeig [mir] die letzten NUM commits",
            "montre [moi] les NUM derniers commits",
        ),
        build=_log,
    ),
    Rule(
        name="last commit message",
        phrases=(
            f"(what is|what's|what was|{_SHOW}) [me] the (last|latest) commit message",
            "who made the (last|latest) commit",
            "when was the (last|latest) commit [made]",
        ),
        build=_last_message,
    ),
    Rule(name="git add", phrases=("git add [--] ARGS", "stage [the] [file] FILE"), build=_stage, writes=True),
    Rule(
        name="git show",
        phrases=(
            "git show [REVISION]",
            f"{_SHOW} [me] [the] (commit|git commit) REVISION",
            f"{_SHOW} [me] [the] (last|latest|most recent) [git] commit",
            "(what is|what's|what was) [in] the (last|latest) [git] commit",
            "what (changed in|did) [the] [commit] REVISION [change]",
            "(what changed in the last commit|what did the last commit change)",
        ),
        build=_show,
    ),
)
