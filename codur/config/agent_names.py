"""Files by which a project tells other agents what to do; a copy of it that they work on has them only if accepted.

What the shipped agents read of a directory that they work in, as their documentation has it (2026-11): AGENTS.md and
AGENTS.override.md (codex, opencode), CLAUDE.md and CLAUDE.local.md (Claude Code, opencode), GEMINI.md (Gemini CLI),
CONTEXT.md (opencode); the rest is what other editors' agents read, which many agents look for too.
"""

from codur.config.protected import fold, fold_path

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
