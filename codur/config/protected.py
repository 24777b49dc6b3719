"""Names of files and directories that other programs and agents act on, and how names compare."""

import unicodedata
from collections.abc import Collection

PROTECTED_NAMES: frozenset[str] = frozenset(
    """
    .git .gitmodules .hg .jj .codur .vscode .idea .devcontainer .envrc .mcp.json .claude .codex .cursor .gemini .husky
    .opencode .kiro .windsurf .roo
    """.split()
)
"""Files and directories that other programs act on when they are opened or run; at any depth, also when absent."""

REPOSITORY_PARTS: frozenset[str] = frozenset(
    {"HEAD", "objects", "refs", "commondir", "config", "config.worktree", "hooks", "info"}
)
"""What is in a directory that git takes for a repository whatever its name is, and acts on."""


def is_repository(names: Collection[str]) -> bool:
    """Whether git takes a directory with these names in it for a repository."""
    return "HEAD" in names and ("commondir" in names or ("objects" in names and "refs" in names))


def fold(part: str) -> str:
    """A name as file systems that ignore case, Unicode form or invisible characters may see it."""
    if part.isascii() and part.isprintable():
        return part.casefold().rstrip(". ")
    visible = "".join(char for char in unicodedata.normalize("NFKC", part) if unicodedata.category(char) != "Cf")
    return visible.casefold().rstrip(". ")


def fold_path(relative: str) -> tuple[str, ...]:
    """The folded components of a relative path."""
    return tuple(fold(part) for part in relative.split("/") if part)


def has_protected_name(relative: str) -> bool:
    """Whether a component of the path is a protected name."""
    return any(part in PROTECTED_NAMES for part in fold_path(relative))


# What the shipped agents read of a directory that they work in, as their documentation has it (2026-11): AGENTS.md and
# AGENTS.override.md (codex, opencode), CLAUDE.md and CLAUDE.local.md (Claude Code, opencode), GEMINI.md (Gemini CLI),
# CONTEXT.md (opencode); the rest is what other editors' agents read, which many agents look for too.
OTHER_INSTRUCTIONS = (
    "AGENTS.override.md",
    "CLAUDE.local.md",
    "CONTEXT.md",
    ".cursorrules",
    ".windsurfrules",
    ".goosehints",
)
"""Instructions that Codur itself does not read."""
_INSTRUCTIONS = frozenset(name.casefold() for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md", *OTHER_INSTRUCTIONS))
_SETTINGS = frozenset({"opencode.json", "opencode.jsonc", ".opencode", ".agents", ".clinerules"})
_SETTINGS_PREFIX = ".aider"


def instructs_agents(path: str) -> bool:
    """Whether a relative path is that of instructions for agents, in whatever directory and letter case."""
    return fold(path.rpartition("/")[2]) in _INSTRUCTIONS


def sets_agents(path: str) -> bool:
    """Whether a relative path is that of an agent's settings, which name services, programs and permissions."""
    return any(part in _SETTINGS or part.startswith(_SETTINGS_PREFIX) for part in fold_path(path))
