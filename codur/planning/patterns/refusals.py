"""What of a request speaks against an order: a refusal, a question, a part that is to stay; in the languages that
prompts are often written in.

Rules know few words of each language, so that what looks like a refusal is one: a model reads it then. English
refusals that stand before their verb are known to `classify.py`.
"""

import re
from collections.abc import Sequence

from codur.lazy import regex
from codur.planning.patterns.phrases import words
from codur.planning.patterns.prompt_tokens import Token, read_prompt

_CLAUSE = regex(r"[.,;!?:\n，。、；！？：]+(?=\s|$)|[，。、；！？：\n]")
_TESTS = regex(r"test|тест|测试|テスト|테스트|prueba", re.IGNORECASE)
_KEEPS = regex(
    # English: an order, or what is added to one; "the total does not change" tells what is wrong
    r"^(?:(?:please|and|but|also|just) )*(?:don'?t|do not|never) (?:\w+ ){0,2}?(?:touch|change|modify|edit|alter)\b"
    r"|\bwithout (?:\w+ )?(?:touching|changing|modifying|editing|altering)\b(?! (?:anything|more)\b)"
    r"|\b(?:leave|keep)\b.*\b(?:alone|untouched|unchanged|as (?:it |they )?(?:is|are))\b"
    r"|\b(?:must|may|should) (?:not|never) be (?:touched|changed|modified|edited|altered)\b"
    # German, French, Spanish, Portuguese, Italian, Dutch: a refusal and a verb, in any order
    r"|(?=.*\b(?:nicht|nichts|kein\w*|ohne)\b).*(?:änder|aender|faß|fass|rühr|ruehr)"
    r"|(?=.*\b(?:pas|rien|sans|ne)\b).*\b(?:touch|chang|modifi)"
    r"|(?=.*\b(?:no|sin|sem|não|nao|nada|non|senza)\b).*\b(?:toc(?:ar|ca)|toqu|cambi|modifi|mex|alter)"
    r"|(?=.*\b(?:niet|zonder|geen)\b).*(?:aan te raken|\braak|wijzig|verander)"
    # Russian, Chinese, Japanese, Korean
    r"|\b(?:не|без)\s+(?:трог|меня|измен)"
    r"|(?:不要|别|勿|不能|不许)(?:去)?(?:修改|更改|改|动|碰)|(?:変え|変更し|触ら|いじら)ないで|(?:바꾸|고치|건드리)지\s?마",
    re.IGNORECASE,
)
_PROSE = regex(
    r"\b(?:spelling|grammar|punctuation|wording|orthogra\w+|ortogra\w+|rechtschreib\w*|zeichensetzung|grammatik"
    r"|gram[aá]tica|grammaire|орфограф\w*|пунктуац\w*)\b|拼写|错别字|语法|誤字",
    re.IGNORECASE,
)
_ORDER = regex(r"修复|修正|修理|修好|改好|直して|なおして|고쳐")
"""Repair it, where no space divides words."""
_NO_ORDER = regex(
    r"(?:不要|不用|不必|别|勿|先别)[^，。,.]{0,4}(?:修|改好)|(?:直さ|しない|修正せ)|ないで|고치지|吗|么[？?]|か[？?。]|か$|[？?]\s*$"
)


def keeps_a_part(prompt: str) -> bool:
    """Whether something is to stay as it is, other than tests, which no search edits."""
    own = " ".join(token.text for token in read_prompt(prompt).tokens if token.kind not in {"fence", "paste"})
    clauses = (clause.strip() for clause in _CLAUSE.split(own))
    return any(_KEEPS.search(clause) and not _TESTS.search(clause) for clause in clauses)


def is_about_prose(prompt: str) -> bool:
    """Whether texts for people are to be mended, of which no check says anything."""
    return _PROSE.search(prompt) is not None


def is_refused(clause: Sequence[str]) -> bool:
    """Whether a clause with an order in it says that it is none: "repariere main.py nicht".

    What follows a word that begins a clause of its own tells what is wrong: "arregla lo que no funciona".
    """
    if clause[0] in words("without"):
        return True
    for word in clause:
        if word in words("relatives"):
            return False
        if word in words("refusals"):
            return True
    return False


def begins_refused(clause: Sequence[str]) -> bool:
    """Whether a clause begins with a refusal, so that it says of all the request what is not wanted."""
    # "no hace falta arreglar", "no need to fix"
    return clause[0] in words("first refusals") or (
        clause[0] == "no" and not words("not needed").isdisjoint(clause[1:2])
    )


def is_order(tokens: Sequence[Token]) -> bool:
    """Whether a request in a language without spaces asks for a repair."""
    said = " ".join(token.text for token in tokens if token.kind in {"word", "mark"})
    return _ORDER.search(said) is not None and _NO_ORDER.search(said) is None
