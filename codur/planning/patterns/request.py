"""A prompt, and what is needed to find out more about it."""

import re

from codur.config.settings import Settings
from codur.planning.patterns.classify import Classification
from codur.planning.patterns.named_paths import FileNames, Mention
from codur.planning.patterns.prompt_tokens import PromptText
from codur.sandbox.launcher import Launcher
from codur.structs import Struct
from codur.types import Discovery, Task

MAX_CANDIDATES = 3
_EXAMPLE = (
    r"(?:\b(?:an?|any|some) (?:\w+ ){0,2}(?:named|called)|\b(?:like|such as|for example|for instance)|\be\.g\.)"
    r"[\s:,]+[`'\"]?"
)


class Request(Struct):
    """A prompt, the files that it names, and what is needed to find out more about it; `launcher` starts git."""

    task: Task
    text: PromptText
    names: FileNames
    mentions: tuple[Mention, ...]
    settings: Settings
    launcher: Launcher | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The existing files that it names; of a name that may stand for several, the first few at the end."""
        clear = [mention.path for mention in self.mentions if mention.path is not None]
        unclear = [path for mention in self.mentions for path in mention.candidates[:MAX_CANDIDATES]]
        return tuple(dict.fromkeys((*clear, *unclear)))

    @property
    def missing(self) -> tuple[str, ...]:
        """The files that it names and that are not there, without examples: "a file named A.CSS must count, too"."""
        said = self.task.prompt
        names = dict.fromkeys(mention.name for mention in self.mentions if mention.missing)
        return tuple(name for name in names if not re.search(_EXAMPLE + re.escape(name), said))

    def discovery(self, found: Classification) -> Discovery:
        """The kind, and the files that the prompt names."""
        return Discovery(
            task_type=found.task_type,
            confidence=found.confidence,
            files=self.files,
            missing_files=self.missing,
            reason=found.reason,
        )
