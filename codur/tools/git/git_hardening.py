"""What keeps git from running programs, and from reading files, that a repository's configuration names.

A repository is untrusted: its `.git/config` (and what that includes) can name programs for file-system monitoring,
hooks, filters, diffs, pagers, signatures and transports, and files to read. The keys that are set are listed first,
which runs nothing, and each that could start a program or show a file is overridden on the command line, which has the
last word in git's configuration.
"""

from collections.abc import Iterable

ENVIRONMENT: tuple[tuple[str, str], ...] = (
    ("LC_ALL", "C.UTF-8"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),  # `git status` would write the index
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),  # a partial clone would fetch what it lacks
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_LITERAL_PATHSPECS", "1"),  # a file's name may begin with a colon, and is no pattern
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_ASKPASS", "true"),
    ("GIT_SSH_COMMAND", "false"),
)

ALWAYS: tuple[tuple[str, str], ...] = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.quotePath", "false"),  # names as they are, not in octal digits
    ("core.pager", "cat"),
    ("log.showSignature", "false"),
    ("commit.gpgSign", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("gpg.program", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("submodule.recurse", "false"),
    ("protocol.allow", "never"),
)

_HARMLESS = {
    "": "clean smudge process gitproxy helper tool vcs skiplist templatedir",
    "false": "required fsmonitor sshcommand program defaultkeycommand uploadpack receivepack showsignature promisor",
    "cat": "textconv pager difffilter",
    "true": "command external editor askpass driver cmd alternaterefscommand packobjectshook",
    "/dev/null": "hookspath template excludesfile attributesfile orderfile file signaturefile allowedsignersfile "
    "revocationfile",
    "never": "allow",
}
_BY_LAST_NAME = {name: value for value, names in _HARMLESS.items() for name in names.split()}
"""Harmless value by the last part of a key; an empty filter lets content through as it is.

Keys that name files are among them: git tells lines of what it cannot understand. (`include.path` cannot be overridden;
what is included and no configuration is told by its line's number alone.)
"""

MAX_KEYS = 500

DIFF_OPTIONS = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=all",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
"""A patch in one form, whatever the configuration says, made by git alone."""


def overrides(keys: Iterable[str]) -> tuple[tuple[str, str], ...] | None:
    """Key and value of every override that a repository with these configuration keys needs.

    Returns:
        None if one cannot be overridden on a command line, or there are more than 500.
    """
    found: dict[str, str] = dict(ALWAYS)
    for key in keys:
        value = _BY_LAST_NAME.get(key.rpartition(".")[2].lower())
        if value is not None:
            found[key] = value
    # On a command line a key ends at the first `=`: the override would be one of another key.
    if len(found) > MAX_KEYS or any("=" in key or "\n" in key for key in found):
        return None
    return tuple(found.items())
