"""Files that hold keys and passwords, by their names: shown to no model unasked, and copied nowhere without need."""

import os
import posixpath
import re
from contextlib import suppress
from pathlib import Path

from codur.lazy import regex
from codur.redaction import secrets_in
from codur.workspace.listing import SKIPPED_DIRECTORIES

_SECRET_NAME = regex(
    r"\.env|\.env\..*|.*\.env|\.envrc|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.htpasswd|\.git-credentials"
    r"|credentials|credentials\.(?:json|ya?ml|toml|ini)|secrets?\.(?:json|ya?ml|toml|ini|env)|service[-_]account.*\.json"
    r"|\.dockercfg|\.dockerconfigjson|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)",
    re.IGNORECASE,
)
_PATTERN_OF_ONE = regex(r".*(?:example|sample|template|dist)", re.IGNORECASE)
# What stands before a password, or is a comment, in files that are no settings.
_BEFORE_PASSWORD = dict.fromkeys((".pgpass", ".htpasswd"), r"(?m)^#.*|^.*(?<!\\):")
_BEFORE_PASSWORD[".netrc"] = r"(?m)^[ \t]*#.*|(?<!\S)password\s+"
_MAX_BYTES = 65_536
_PRIVATE_DIRECTORIES = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".azure"})


def may_hold_secrets(path: str) -> bool:
    """Whether a file's name says that it holds keys or passwords; `.env.example` and the like do not."""
    *directories, name = path.split("/")
    if not _PRIVATE_DIRECTORIES.isdisjoint(directories):
        return True
    if not _SECRET_NAME.fullmatch(name):
        return False
    # By the last part of the name: `.env.example` is shown to say which variables there are.
    return not _PATTERN_OF_ONE.fullmatch(posixpath.splitext(name)[1] or name)


def secret_values(root: Path) -> tuple[str, ...]:
    """The secrets in files that may hold some, in a directory and those right below it.

    Programs read these, whatever git ignores, and print what is in them. What a pattern beside such a file
    (`.env.example`) has as well is none.
    """
    found, shown = set[str](), set[str]()
    for directory in (root, *_directories(root)):
        for name in filter(_SECRET_NAME.fullmatch, _names(directory)):
            path = directory / name
            # What cannot be read here can be read by no program either.
            with suppress(OSError):
                if path.is_file() and path.stat().st_size <= _MAX_BYTES:
                    values = found if may_hold_secrets(name) else shown
                    text = path.read_text("utf-8", "replace")
                    if before := _BEFORE_PASSWORD.get(name):
                        text = re.sub(before, "\npassword=", text).replace("\\:", ":")
                    values.update(secrets_in(text))
    return tuple(sorted(found - shown))


def _directories(root: Path) -> list[Path]:
    # Of a link that leads to itself os.scandir would raise; of one to where one may not look, a Path.
    directories = filter(os.path.isdir, map(root.joinpath, _names(root)))
    return [path for path in directories if path.name not in SKIPPED_DIRECTORIES]


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)  # noqa: PTH208 - paths of a large directory take far longer
    except OSError:
        return []
