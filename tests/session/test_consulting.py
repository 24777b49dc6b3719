"""How the user is asked."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from codur.questions import Answer, Question
from codur.sandbox.processor_turns import Waited
from codur.session.opening import asking, consulting


def test_the_user_is_asked_one_question_at_a_time() -> None:
    first_is_asked, second_tries, begun, asked = threading.Event(), threading.Event(), list[str](), list[str]()

    def user(question: Question) -> Answer:
        begun.append(question.text)
        first_is_asked.set()
        assert second_tries.wait(30)
        for _ in range(1000):  # the other thread has every chance to come in between
            if len(begun) > len(asked) + 1:
                break
            threading.Event().wait(0.0001)
        assert len(begun) == len(asked) + 1
        asked.append(question.text)
        return Answer(decision="answer", text=question.text.upper())

    ask = asking(consulting(user, Waited()))

    def second() -> str:
        assert first_is_asked.wait(30)
        second_tries.set()
        return ask("two", ())

    with ThreadPoolExecutor(max_workers=2) as threads:
        answers = [threads.submit(ask, "one", ()), threads.submit(second)]
        assert [answer.result() for answer in answers] == ["ONE", "TWO"]
    assert asked == ["one", "two"]
