"""What of a request speaks against an order: a refusal, a question, a part that is to stay; in the languages that
prompts are often written in.

Rules know few words of each language, so that what looks like a refusal is one: a model reads it then. English
refusals that stand before their verb are known to `classify.py`.
"""

import re
from collections.abc import Sequence

from codur import checks
from codur.lazy import regex
from codur.planning.patterns.phrases import words
from codur.planning.patterns.prompt_tokens import Token, read_prompt

_CLAUSE = regex(r"[.,;!?:\n]+(?=\s|$)|[，。、；！？：\n]| \(| [-–—] | (?:but|and) ")
_SENTENCE = regex(r"[.;!?:\n]+(?=\s|$)")
_MOST_CHARS = 400  # of a clause, which is looked at
_TESTS = regex(r"\b(?:tests?|testes|pruebas)\b|тест|测试|テスト|테스트", re.IGNORECASE)
_NAME = regex(r"\w[._]\w|\w\(|[a-z][A-Z]|\b(?:or|nor|oder|ni|ou|или)\b")
"""A clause names something in the program, or several things."""
_KEEPS = regex(
    # an order, or what is added to one; "the values don't change" tells what is wrong
    r"^\W*(?:(?:please|also|just|you) )*(?:don't|do not|never|must not|may not|should not)"
    r" (?:\w+ ){0,2}?(?:touch|change|modify|edit|alter)\b"
    r"|\b(?:don't|do not) (?:touch|modify|edit)\b"
    r"|\bwithout (?:\w+ )?(?:touching|changing|modifying|editing|altering)\b(?! (?:anything|more)\b)"
    r"|\b(?:leave|keep)\b.*\b(?:alone|untouched|unchanged|as (?:it |they )?(?:is|are))\b"
    r"|\b(?:must|may|should) (?:not|never) be (?:touched|changed|modified|edited|altered)\b"
    r"|\b(?:must|should|has to|have to) (?:stay|remain) (?:as|unchanged|untouched|the same)\b"
    # Spanish, Portuguese and Italian, which "no" does not tell from English
    r"|\b(?:no|não|nao|non|ni)\s+(?:\w+\s+)?(?:toques|cambies|modifiques|toque|cambie|mexa|altere|modifique|mude|toccare"
    r"|cambiare|modificare)\b"
    r"|\b(?:sin|sem|senza)\s+(?:tocar|cambiar|modificar|alterar|mexer|mudar|toccare|cambiare|modificare)\b"
    # Russian, Chinese, Japanese, Korean
    r"|\b(?:не|без)\s+(?:трог|меня|измен)"
    r"|(?:不要|别|勿|不能|不许)(?:去)?(?:修改|更改|改|动|碰)|(?:変え|変更し|触ら|いじら)ないで|(?:바꾸|고치|건드리)지\s?마",
    re.IGNORECASE,
)
_FILE = regex(r"[\w./-]*\w\.[A-Za-z]\w{0,4}")
_SETS = regex(
    r"\b(?:set|change|add|remove|replace|create|configure|enable|disable|allow|raise|lower|increase|reduce|turn|switch)\b"
    r"(?: (?!\w+\.ya?ml)\w+(?:\.\w+)+)?",
    re.IGNORECASE,
)
_ASKS = regex(r"\A(?:(?:please|also|then|now|and|can|could|would|you|i|we|want|need|to) )+", re.IGNORECASE)
_IN_SOURCE = regex(r"\b(?:in|of) \S+\.(?!ya?ml)\w")
_OF_KEEPING = frozenset(
    "do don't not never must may should be without leave keep alone untouched unchanged as is are it they touch change"
    " modify edit alter touching changing modifying editing altering touched changed modified edited altered the file"
    " files and or nor please also just you".split()
)
"""Words of a clause that says of files, and of nothing in them, that they are to stay."""
_KEEPS_ALL = regex(
    r"\b(?:(?:don'?t|do not|never|without) (?:chang(?:e|ing)|modify(?:ing)?|edit(?:ing)?|touch(?:ing)?)"
    r" (?:anything|any (?:files?|code)|a thing)|(?:change|modify|edit|touch) nothing)\b"
    r"(?: at all)?$"
)
_KEEPS_IN_PARTS = (
    (r"\b(?:nicht|nichts|kein\w*|ohne)\b", r"änder|aender|faß|fass|rühr|ruehr"),
    (r"\b(?:pas|rien|sans|ne)\b", r"\b(?:touch|chang|modifi)"),
    (r"\b(?:niet|zonder|geen)\b", r"aan te raken|\braak|wijzig|verander"),
    # "repariere die Tests, nicht main.py"
    (r"^\W*(?:nicht|not|pas|non|não|niet|не) ", r"\w\.\w|\w\("),
)
"""A refusal, and what is refused: both in one clause, in any order."""
_MEND = r"(?:fix|correct|mend|check|improve|korrigier\w*|verbesser\w*|corrig\w*|corrij\w*|repar\w*|исправ\w*|провер\w*)"
_PROSE = regex(
    rf"\b{_MEND}\s+(?:(?:the|all|any|die|der|das|la|le|el|il|lo|o|las|les|los|a|as|os|fautes|errores|erros|errori|faults|mistakes|de|d'|di"
    r"|в|все)\s*)*(?:spelling|(?:grammar|punctuation|wording)(?=.*\b(?:comments?|docs?|docstrings?|texts?|messages|readme)\b)"
    r"|orthogra|ortogra|rechtschreib|zeichensetzung|grammatik|орфограф|пунктуац|readme\b|changelog\b)"
    r"|拼写|错别字|誤字",
    re.IGNORECASE,
)
_HANDS = regex(r"änder|aender|fass|touch|modifi|cambi|tocar|toque|mex|alter|измен|трог|wijzig")
_ORDER = regex(r"修复|修正|修理|修好|改好|直して|なおして|고쳐")
"""Repair it, where no space divides words."""
_NO_ORDER = regex(
    r"(?:不要|不用|不必|别|勿|先别)[^，。,.]{0,4}(?:修|改好)|(?:直さ|しない|修正せ)|ないで|고치지|吗|么[？?]|か[？?。]|か$|[？?]\s*$"
)


def keeps_a_part(prompt: str) -> bool:
    """Whether something is to stay as it is, other than tests alone, which no search edits."""
    kept = filter(None, map(_kept, _own(prompt)))
    return any(_NAME.search(text) or not _TESTS.search(text) for text in kept)


def _own(prompt: str, ends: re.Pattern[str] = _CLAUSE) -> list[str]:
    """The clauses, or sentences, of a prompt's own words, without what it pastes."""
    said = " ".join(token.text for token in read_prompt(prompt).tokens if token.kind not in {"fence", "paste"})
    return [clause.strip()[:_MOST_CHARS] for clause in ends.split(said.replace("’", "'"))]


def _kept(clause: str) -> str:
    """A clause from its refusal on; empty if it lets nothing stay as it is."""
    if found := _KEEPS.search(clause):
        return clause[found.start() :]
    for refusal, verb in _KEEPS_IN_PARTS:
        found = re.search(refusal, clause, re.IGNORECASE)
        if found and re.search(verb, clause, re.IGNORECASE):
            return clause[found.start() :]
    return ""


def kept_files(prompt: str) -> frozenset[str] | None:
    """The files that are to stay as they are, as a prompt names them in English; None if something else is to, too."""
    names, last = set[str](), False
    for clause in _own(prompt):
        text = _kept(clause)
        said = [word.strip("`'\"()") for word in (text if _FILE.search(text) else clause).split()]
        files = {word for word in said if _FILE.fullmatch(word)}
        plain = bool(files) and all(word in files or word.lower() in _OF_KEEPING for word in said)
        # "don't touch a.py and b.py" is two clauses.
        last = plain and (bool(text) or last)
        if last:
            names |= files
        elif text and (_NAME.search(text) or not _TESTS.search(text)):
            return None
    return frozenset(names)


def may_edit(prompt: str, path: str) -> bool:
    """Whether a prompt asks to change a file of settings, in English, or begins with its name and what to change."""
    begins = re.match(rf"(?:In )?(?:\./)?{re.escape(path)}:?,? (?:please )?", prompt)
    asked = begins and _SETS.match(prompt, begins.end())
    # "main.py should create codur.yaml" is about what main.py does.
    said = (*_own(prompt), *_own(prompt, _SENTENCE))
    told = (text for text in said if _SETS.match(_ASKS.sub("", text)) and not _IN_SOURCE.search(text))
    named = checks.stated_output.files_to_edit(_SETS.sub("change", ". ".join(told)), [path])
    return bool(asked or named) and path not in (kept_files(prompt) or ())


def keeps_all(clause: Sequence[str]) -> bool:
    """Whether a clause says that nothing at all is to be changed."""
    return _KEEPS_ALL.search(" ".join(clause)) is not None


def is_about_prose(prompt: str) -> bool:
    """Whether texts for people are to be mended, of which no check says anything."""
    return any(_PROSE.search(clause) for clause in _own(prompt))


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


def begins_refused(clause: Sequence[str], *, orders: bool) -> bool:
    """Whether a clause says of all the request what is not wanted.

    Args:
        orders: an order stands before it, so that it says no more than what is not wanted beside that.
    """
    # "no hace falta arreglar", "no need to fix"
    refuses = clause[0] in words("first refusals") or (
        clause[0] == "no" and not words("not needed").isdisjoint(clause[1:2])
    )
    # "rien ne s'affiche" tells what is wrong.
    return (
        refuses
        and not orders
        and (len(clause) == 1 or any(word in words("refused") or _HANDS.search(word) for word in clause))
    )


def is_order(tokens: Sequence[Token]) -> bool:
    """Whether a request in a language without spaces asks for a repair."""
    said = " ".join(token.text for token in tokens if token.kind in {"word", "mark"})
    return _ORDER.search(said) is not None and _NO_ORDER.search(said) is None
