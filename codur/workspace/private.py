"""Files that hold keys and passwords, by their names: shown to no model unasked, and copied nowhere without need."""

import posixpath
import re

from codur.lazy import regex

_SECRET_NAME = regex(
    r"\.env|\.env\..*|.*\.env|\.envrc|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.htpasswd|\.git-credentials"
    r"|credentials|credentials\.(?:json|ya?ml|toml|ini)|secrets?\.(?:json|ya?ml|toml|ini|env)|service[-_]account.*\.json"
    r"|\.dockercfg|\.dockerconfigjson|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)",
    re.IGNORECASE,
)
_PATTERN_OF_ONE = regex(r".*(?:example|sample|template|dist)", re.IGNORECASE)
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
