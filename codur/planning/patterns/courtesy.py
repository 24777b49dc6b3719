"""Greetings, thanks and other courtesies around a request, in the languages that prompts are often written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from codur.planning.patterns.prompt_tokens import Token, keys

_HELLO = """
hi|hello|hey|hiya|howdy|yo|hi there|hello there|hey there|good morning|good afternoon|good evening|good day|morning
greetings|what's up|whats up|sup|how are you|how are you doing|how's it going|how is it going|nice to meet you
hallo|guten morgen|guten tag|guten abend|moin|moin moin|servus|grüß gott|grüezi|wie geht's|wie geht es dir
bonjour|bonsoir|salut|coucou|ça va|comment ça va|hola|buenos días|buenos dias|buenas tardes|buenas noches|buenas
qué tal|que tal|cómo estás|goedemorgen|goedemiddag|goedenavond|goedendag|goeiemorgen|hoi|hoe gaat het|alles goed
ciao|buongiorno|buonasera|salve|come stai|olá|oi|bom dia|boa tarde|boa noite|tudo bem|hej|hejsan|god morgon|god morgen
god dag|hei|moi|terve|cześć|dzień dobry|ahoj|dobrý den|szia|merhaba|selam|günaydın|привет|здравствуйте|добрый день
こんにちは|おはよう|你好|您好|안녕하세요|안녕|namaste|salaam|shalom
"""
_THANKS = """
thanks|thank you|thx|ty|cheers|thanks a lot|thanks so much|many thanks|thank you very much|thank you so much|great|cool
perfect|nice|awesome|great job|good job|well done|nice work|great work|that's great|that is great|that fixed it
that worked|that works|it works|it works now|much appreciated|that's perfect|that is perfect|that's awesome|that's nice
that's cool|excellent|brilliant|wonderful|lovely|amazing
good work|thanks again|thank you again
danke|danke schön|danke sehr|vielen dank|merci|merci beaucoup|gracias|muchas gracias|dank je|dank je wel|dankjewel
dank u|dank u wel|bedankt|grazie|grazie mille|obrigado|obrigada|muito obrigado|tack|tack så mycket|takk|kiitos
dziękuję|děkuji|köszönöm|teşekkürler|спасибо|ありがとう|谢谢|감사합니다
"""
_BYE = """
bye|goodbye|bye bye|see you|see you later|good night|have a nice day|have a good day|tschüss|auf wiedersehen
au revoir|adiós|adios|hasta luego|tot ziens|doei|arrivederci|tchau|hej då|пока
"""
_SMALL = frozenset({"ok", "okay", "alright", "oh", "ah", "wow"})
"""Before thanks they say nothing; alone they may answer a question."""
_PRONOUNS = frozenset({"me", "us", "mir", "uns", "moi", "nous", "mij"})
_AMID = frozenset({"please", "pls", "plz", "kindly", "bitte", "mal", "alsjeblieft"})
"""Polite words that may also stand after the person whom something is shown to."""
_NAMES = """
codur|there|all|everyone|everybody|friend|buddy|mate|bot|team|again|dear|sir|today|and|you
for your help|for the help|for that|for everything
"""
_OPENERS = """
would you be so kind as to|could you be so kind as to|be so kind as to|would you kindly
please|pls|plz|kindly|can you|could you|would you|will you|can u|could u|can you please|could you please|i want you to
i need you to|i would like you to|i'd like you to|i want to|i need to|i'd like to|i would like to|we need to|we want to
let's|lets|let us|now|ok|okay|alright|right|so|well|just|quickly|first ,|then|also|next|and|finally|go ahead and|try to
help me|help me to|can you help me|could you help me|can you help me to|you should|you must|your task is to|make sure to
hi|hello|hey|hi there|hello there|hey there|hi codur|hey codur|hello codur|codur|dear codur|good morning|good afternoon
good evening|thanks|thank you|thx|great|cool|perfect|nice|bitte|kannst du|kannst du bitte|könntest du|können sie|jetzt
hallo|guten tag|guten morgen|moin|bonjour|salut|s'il te plaît|s'il vous plaît|peux-tu|pouvez-vous|tu peux|maintenant
hola|por favor|puedes|podrías|ahora|hoi|kun je|kan je|wil je|alsjeblieft|graag|nu|ciao|per favore|puoi|olá|oi|você pode
danke|merci|gracias|bedankt
"""
_CLOSERS = """
please|pls|plz|thanks|thank you|thx|for me|now|right now|if you can|if possible|will you|would you|asap|thanks a lot
many thanks|bitte|danke|merci|s'il te plaît|s'il vous plaît|por favor|gracias|alsjeblieft|alstublieft|dank je|per favore
grazie
"""
_HELP = """
help|help me|help please|i need help|what can you do|what can you do for me|what can i do|what can i ask
what can i ask you|what can i do here|what do you do|what are you|who are you|what is codur|what's codur|what is this
how do i use you|usage|how do i use codur|how do i use this|how does this work|how do you work|how can you help
how can you help me|what are you able to do|what are your features|show help|show me what you can do
what commands are there|was kannst du|was kannst du tun|wer bist du|hilfe
que peux-tu faire|qui es-tu|aide|aide-moi|qué puedes hacer|quién eres|ayuda|wat kan je|wat kun je|wat kan je doen
wie ben je|cosa puoi fare|chi sei|aiuto|o que você pode fazer
"""
_LONGEST = 7
"""Words of the longest phrase above."""
_MARKS = frozenset(".,;:!?…()-–—¡¿\n")

Courtesy = str
"""`hello`, `thanks`, `bye` or `help`."""


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in text.replace("\n", "|").split("|") if phrase.strip())


@cache
def _social() -> Mapping[tuple[str, ...], Courtesy]:
    kinds = {"hello": _HELLO, "thanks": _THANKS, "bye": _BYE, "": _NAMES}
    return {phrase: kind for kind, text in kinds.items() for phrase in _phrases(text)}


@cache
def _openers() -> frozenset[tuple[str, ...]]:
    return _phrases(_OPENERS)


@cache
def _closers() -> frozenset[tuple[str, ...]]:
    return _phrases(_CLOSERS)


@cache
def _help() -> frozenset[tuple[str, ...]]:
    return _phrases(_HELP)


def greeting_in(tokens: Iterable[Token]) -> Courtesy | None:
    """Which courtesy the tokens are, if they are nothing else; None if anything more is said."""
    said = [key for token in tokens if (key := _spoken(token)) not in _MARKS]
    if tuple(said) in _help() or tuple(_strip(said)) in _help():
        return "help"
    if len(said) > 1 and said[0] in _SMALL:
        said = said[1:]
    found: list[Courtesy] = []
    while said:
        length = _longest(said, _social())
        if not length:
            return None
        found.append(_social()[tuple(said[:length])])
        said = said[length:]
    kinds = [kind for kind in found if kind]
    return kinds[0] if kinds and found[0] else None


def _spoken(token: Token) -> str:
    """The token's key; an emoji counts as a mark, other symbols and quoted texts as something unknown."""
    if token.kind in {"word", "mark"}:
        text = token.key.strip("-–—¡¿*")
        symbols = all(ord(char) >= 0x2600 and not char.isalnum() for char in text)
        return "." if symbols else text
    return "\0"


def _strip(said: list[str]) -> list[str]:
    """Without a greeting word in front and `please` at the end."""
    while said and (length := _longest(said, _openers())) and len(said) > length:
        said = said[length:]
    return said[:-1] if said and said[-1] == "please" else said


def _longest(said: list[str], known: Mapping[tuple[str, ...], str] | frozenset[tuple[str, ...]]) -> int:
    """Length of the longest known phrase that `said` begins with, or 0."""
    return next((size for size in range(min(_LONGEST, len(said)), 0, -1) if tuple(said[:size]) in known), 0)


def without_courtesy(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The request itself: without greetings and polite words in front, thanks at the end, and outer punctuation."""
    said = keys(tokens)
    start, end = 0, len(tokens)
    while start < end:
        step = _longest(list(said[start : start + _LONGEST]), _openers()) or int(said[start] in _MARKS)
        if not step:
            break
        start += step
    while start < end:
        step = _closing_length(said[start:end])
        if not step:
            break
        end -= step
    return _without_amid(tokens[start:end])


def _without_amid(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Without polite words right after `show me` and its like."""
    size = 2
    while len(tokens) > size and tokens[1].key in _PRONOUNS and tokens[size].key in _AMID:
        tokens = (*tokens[:size], *tokens[size + 1 :])
    return tokens


def _closing_length(said: tuple[str, ...]) -> int:
    if said[-1] in _MARKS:
        return 1
    return next((size for size in range(min(5, len(said) - 1), 0, -1) if said[-size:] in _closers()), 0)
