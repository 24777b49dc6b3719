"""The message of a commit by one small call of a model; who needs one does without where none answers in time."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from codur.config.prompts import PromptLibrary
from codur.config.settings import Profile, Settings
from codur.errors import CodurError
from codur.lazy import late, regex
from codur.llm.model import ChatRequest
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.parsing.bounded_text import beginning, bounded, listed
from codur.planning.replies import Asker, CommitReply, messages
from codur.session.host import limits_of, redactor_of
from codur.structs import Struct, replace

asyncio = late("asyncio")

ANSWER_TOKENS = 300
SCHEMA_TOKENS = 150
_PATIENCE_S = 20.0
_CHANGES = 16_000  # characters of all that is changed
_TASKS, _TASK = 8, 500  # how many of the last tasks are told, and characters of each
_FILES = 40
_SUBJECT, _BODY = 100, 600
_NOT_OURS = regex(
    r"(?im)^[ \t]*(?:[\w-]+-by|skip-checks):.*$|^.*\[(?:(?:skip|no)\s+ci|(?:ci|actions)\s+skip|skip\s+actions)\].*$"
    r"|^.*\b(?:clos|fix|resolv)(?:e[sd]?|ing)?:?\s+(?:\S*#\d|https?://\S+/(?:issues|pull)/\d|GH-\d).*$"
)
"""Trailers, and words by which a service closes an issue or does not check a commit: nobody has said them."""


class Material(Struct):
    """What a message is made of."""

    tasks: Sequence[str]  # what was asked, the oldest first
    files: Sequence[str]
    diff: str
    before: Sequence[str] = ()  # subjects of earlier commits, the latest first
    form: str = ""  # what the user's and the project's accepted instructions say of commits


class Suggested(Struct):
    """A message, and the profile that was asked for it."""

    subject: str
    body: str
    profile: str


def suggested(material: Material, settings: Settings, environ: Mapping[str, str], root: Path) -> Suggested | None:
    """What the fast profile suggests, nothing if it gives no message that can be used; None if it cannot be asked."""
    redactor = redactor_of(settings, environ, root)
    limits = limits_of(settings)
    limits = replace(limits, max_llm_calls=min(1, limits.max_llm_calls))
    pool = ModelPool(settings, environ, limits, PoolOptions(redactor=redactor, time_left=lambda: _PATIENCE_S))
    try:
        name = pool.profiles.fast
        if not pool.available(name):
            return None
        reply = asyncio.run(_answer(material, name, pool))
    except (CodurError, TimeoutError):
        return Suggested(subject="", body="", profile=name)
    subject = _plain(redactor(reply.subject)).strip(" .\"'`")
    body = "\n".join(map(_plain, _NOT_OURS.sub("", redactor(reply.body)).splitlines())).strip()
    if _NOT_OURS.search(subject):
        return Suggested(subject="", body="", profile=name)
    subject = textwrap.shorten(subject, _SUBJECT, placeholder=" …")
    return Suggested(subject=subject, body=beginning(body, _BODY), profile=name)


async def _answer(material: Material, profile: str, pool: ModelPool) -> CommitReply:
    asker = Asker(pool=pool, prompts=PromptLibrary())
    system = asker.prompts.render("commit_message")

    def request(fitted: Profile) -> ChatRequest:
        room = int((fitted.request_tokens - ANSWER_TOKENS - SCHEMA_TOKENS) * BYTES_PER_TOKEN) - len(system)
        about = _text(material, asker.prompts, 0)
        text = _text(material, asker.prompts, min(_CHANGES, max(0, room - len(about))))
        return ChatRequest(
            purpose="commit",
            messages=messages(system, text),
            temperature=0.0,
            max_completion_tokens=ANSWER_TOKENS,
        )

    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await asker.ask(profile, request, CommitReply)
    finally:
        await pool.close()


def _text(material: Material, prompts: PromptLibrary, room: int) -> str:
    return prompts.render(
        "commit_message.task",
        tasks="\n".join(f"- {bounded(task, _TASK)}" for task in material.tasks[-_TASKS:]) or "(not known)",
        before="\n".join(f"- {subject[:_SUBJECT]}" for subject in material.before) or "(none)",
        form=material.form or "(nothing)",
        files=listed(material.files, _FILES),
        changes=bounded(material.diff, room),
    )


def _plain(text: str) -> str:
    """A line without what cannot be printed."""
    return "".join(char for char in " ".join(text.split()) if char.isprintable())
