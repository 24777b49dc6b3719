"""Prompts kept as Markdown files with `{{holes}}`."""

from pathlib import Path

from codur.config.resources import resource_path
from codur.errors import ConfigError
from codur.lazy import regex

_HOLE = regex(r"\{\{(\w+)\}\}")
_NAME = regex(r"[a-z0-9][a-z0-9._-]*")


class PromptLibrary:
    """The prompts of one folder; each file is read once.

    Args:
        directory: the folder of `NAME.md` files; None is Codur's own `config/prompts`.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = resource_path("prompts") if directory is None else directory
        self._texts: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Whether `name` is the name of a prompt (and not, say, a system prompt written out in the settings)."""
        return _NAME.fullmatch(name) is not None and self._file(name).is_file()

    def holes(self, name: str) -> frozenset[str]:
        """The names that `render` needs values for. Raises ConfigError as `render` does."""
        return frozenset(_HOLE.findall(self._text(name)))

    def render(self, name: str, /, **values: str) -> str:
        """The prompt `name` with every hole filled; a value that itself holds `{{…}}` is put in as it is.

        Raises:
            ConfigError: there is no such prompt, a value is missing, or a value has no hole.
        """
        text = self._text(name)
        holes = frozenset(_HOLE.findall(text))
        self._compare(name, "has no value", holes - values.keys())
        self._compare(name, "has a value and no hole", values.keys() - holes)
        return _HOLE.sub(lambda hole: values[hole.group(1)], text)

    def _compare(self, name: str, what: str, left_over: frozenset[str] | set[str]) -> None:
        if left_over:
            holes = ", ".join(f"{{{{{hole}}}}}" for hole in sorted(left_over))
            raise ConfigError(
                f"{holes} {what}", file=str(self._file(name)), remedy="Make the prompt and its caller agree."
            )

    def _file(self, name: str) -> Path:
        return self._directory / f"{name}.md"

    def _text(self, name: str) -> str:
        if name not in self._texts:
            self._texts[name] = self._read(name)
        return self._texts[name]

    def _read(self, name: str) -> str:
        if not self.has(name):
            raise ConfigError(f"there is no prompt {name!r}", remedy=f"Prompts lie in {self._directory}.")
        path = self._file(name)
        try:
            text = path.read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
            raise ConfigError(f"cannot be read: {reason}", file=str(path), remedy="Install Codur again.") from error
        for number, line in enumerate(text.split("\n"), start=1):
            if "{{" in _HOLE.sub("", line):
                raise ConfigError(
                    "holds {{ that does not begin a hole",
                    file=str(path),
                    line=number,
                    remedy="Write holes as {{name}}.",
                )
        return text
