"""The command line: the only package that reads arguments, the environment and the working directory."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.cli import app, commit_words, machine, plain_words, printing, project_names, spoken_commands, told_error
    from codur.cli.conversation.conversation import Conversation
    from codur.cli.conversation.earlier_tasks import continued

__all__ = ["Conversation", "app", "commit_words", "machine", "plain_words", "printing", "project_names"]
__all__ += ["continued", "spoken_commands", "told_error"]
__getattr__ = parts_of(
    __name__,
    Conversation="codur.cli.conversation.conversation",
    continued="codur.cli.conversation.earlier_tasks",
)
