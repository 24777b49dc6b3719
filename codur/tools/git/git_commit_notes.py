"""What a commit of Codur's is told with: hooks that cannot run, that it is not signed, and which secrets are in it."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from codur.lazy import regex
from codur.redaction import Redactor
from codur.tools.git.git_hardening import DIFF_OPTIONS
from codur.tools.git.git_repository import MAX_OUTPUT, Repository
from codur.tools.tool import ToolError
from codur.workspace.private import may_hold_secrets, secret_values

_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
_HUNK = regex(r"@@ -\S+ \+(\d+)")
_PARTS = regex(r"^(?=@@ |diff --git )", re.MULTILINE)


def require_hooks(repository: Repository, environ: Mapping[str, str]) -> None:
    """ToolError if git itself would run a hook before a commit that lies elsewhere: `refused`, with the remedy."""
    key, inside = "core.hooksPath", (repository.top, *repository.own)
    named = repository.setting(key)
    own = "" if named else repository.own_setting(key, environ)
    directory = Path(repository.top, named or own or repository.own[-1] / "hooks")
    with suppress(RuntimeError):  # of a user that there is not, git leaves it as it is, too
        directory = Path(repository.top, Path(named or own or directory).expanduser())
    for hook in map(directory.joinpath, _HOOKS):
        real = Path(os.path.realpath(hook))
        if os.access(hook, os.X_OK) and (own or not any(map(real.is_relative_to, inside))):
            remedy = "Commit with git itself, or leave hooks out: codur commit --no-verify"
            raise ToolError("refused", f"{hook} is not the repository's own and cannot be run here", remedy=remedy)


def unsigned(repository: Repository, environ: Mapping[str, str]) -> tuple[str, ...]:
    """That a commit is not signed, where the user's settings ask for it."""
    key = "commit.gpgSign"
    wanted = repository.setting(key) or repository.own_setting(key, environ)
    told = f"commits of Codur are not signed, which {key} asks for; to sign it: git commit --amend --no-edit -S"
    return (told,) if wanted.lower() in {"true", "yes", "on", "1"} else ()


def secrets(repository: Repository, files: Sequence[str], *uncommitted: str) -> tuple[str, ...]:
    """Files of the last commit that may hold secrets by their names, and lines that it adds with one of a known shape.

    Args:
        files: those below the workspace.
        uncommitted: what `git diff` is to be asked for instead of the last commit.
    """
    found = [
        f"{path} may hold secrets" for path in files if may_hold_secrets(path) and (repository.root / path).exists()
    ]
    words, redact, path = uncommitted or ("HEAD",), Redactor(secret_values(repository.root)), ""
    command = ("diff",) if uncommitted else ("show", "--format=")
    options = (*DIFF_OPTIONS, "--no-renames", "--unified=0", "--relative")
    output = repository.safe(*command, *options, *words, "--", *files) if files else ""
    for part in _PARTS.split(output):
        lines = part.split("\n")
        if hunk := _HUNK.match(part):
            added = [line[1:] for line in lines if line.startswith("+")]
            alone = [number for number, line in enumerate(added) if redact(line) != line]
            # Some have a shape of several lines.
            places = alone or [0] * (redact(text := "\n".join(added)) != text)
            found += [f"{path}:{int(hunk[1]) + number} holds what looks like a key or password" for number in places]
        else:
            path = next((line.removeprefix("+++ b/") for line in lines if line.startswith("+++ ")), path)
    if len(output) >= MAX_OUTPUT:
        found.append("the change is so large that not all of it was looked at for keys and passwords")
    return tuple(found)
