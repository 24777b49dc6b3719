"""A test for a task that has none: asked of a model, once more if it was of no use."""

from codur.lazy import regex
from codur.llm.model import ChatRequest
from codur.parsing.code import code_from_text
from codur.parsing.fences import strip_thinking
from codur.planning.replies import Asker, messages
from codur.structs import Struct
from codur.types import Message

_NONE = regex(r"\A\W*NONE\b\W*(?P<reason>[^\n]*)")
_OUTPUT_CHARS = 2_000


class Written(Struct):
    """What a model answered.

    Attributes:
        text: the test; empty if there is none.
        reason: why there is none.
        final: the model says that no test is possible.
    """

    text: str = ""
    reason: str = ""
    final: bool = False


class TestWriter:
    """One conversation with `profile` about one test; `task` is the task and the files, in words."""

    __test__ = False  # not a test class

    def __init__(self, task: str, *, asker: Asker, profile: str) -> None:
        self._asker, self._profile = asker, profile
        self._messages = [*messages(asker.prompts.render("make_check"), task)]

    async def write(self) -> Written:
        """Ask for the test."""
        request = ChatRequest(purpose="test", messages=tuple(self._messages))
        reply = await self._asker.pool.complete(self._profile, request)
        self._messages.append(Message(role="assistant", content=reply.text))
        if reply.finish_reason == "length":
            return Written(reason="the answer was cut off")
        none = _NONE.match(strip_thinking(reply.text))
        if none is not None:
            return Written(reason=none["reason"].strip() or "the model sees no way to show it by a test", final=True)
        text = code_from_text(reply.text)
        return Written(text=text) if text else Written(reason="the answer held no Python file")

    def wrong(self, problem: str, output: str) -> None:
        """Say why the last test is of no use, before the next one is asked for."""
        shown = f"{output[-_OUTPUT_CHARS:].strip()}\n" if output else ""
        text = self._asker.prompts.render("make_check.retry", problem=problem, output=shown)
        self._messages.append(Message(role="user", content=text))
