"""How the user is asked: by the run, and by tools."""

import threading
from collections.abc import Callable

from codur.questions import Answer, Question
from codur.sandbox.processor_turns import Waited
from codur.tools.tool import ToolError


def consulting(consult: Callable[[Question], Answer], waited: Waited) -> Callable[[Question], Answer]:
    """Asks the user, one question at a time; the time until the answer comes does not count."""
    # Tools run in threads, and two questions on one terminal would get each other's answers.
    one_at_a_time = threading.Lock()

    def ask(question: Question) -> Answer:
        with one_at_a_time, waited.waiting():
            return consult(question)

    return ask


def asking(consult: Callable[[Question], Answer]) -> Callable[[str, tuple[str, ...]], str]:
    """Puts a tool's question to the user, with its possible answers."""

    def ask(question: str, options: tuple[str, ...]) -> str:
        text = f"{question} ({' / '.join(options)})" if options else question
        answer = consult(Question(kind="question", text=text))
        if answer.decision != "answer":
            raise ToolError("refused", "the user gave no answer; decide from what is known, or say what is missing")
        return answer.text

    return ask
