"""What a prompt says about the check: the output it demands, and the check's files that it asks to change.

Both are read from plain marks only. A demand that is missed leaves a run with a weaker check; one that is read into a
prompt makes a right program look wrong. So whatever is conditional, partial or ambiguous counts as not said.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile
from posixpath import basename, splitext

from codur.checks.entry import MAKEFILES, is_test_file
from codur.lazy import regex
from codur.parsing.fences import fenced_blocks
from codur.structs import Struct


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MUST = r"(?:should|must|shall|(?:has|have|needs?|ought|supposed|expected) to)"
_PRINT = r"(?:print|output|display)"
_DEMAND = regex(
    rf"\b{_MUST}(?:\s+(?:only|now|just|simply|exactly|instead|be able to))*\s+{_PRINT}(?:\s+out)?\b"
    rf"|\boutput\s+{_MUST}\s+(?:be|look\s+like|read)\b"
    r"|\b(?:expected|desired|correct|required|wanted)\s+(?:program\s+|standard\s+)?output(?:\s+is\b|\s*(?=:))",
    re.IGNORECASE,
)
_RUN = regex(
    r"\b(?:when|after|if)\s+(?:(?:I|you|we|it\s+is|it's|one)\s+)?(?:runs?|running|start(?:s|ed)?|executed?)\b"
    r"|\bwith(?:out|\s+no)\s+(?:any\s+)?arguments\b",
    re.IGNORECASE,
)
"""Runs the whole program: no condition on its output."""
_CASE = regex(
    r"\b(?:if|when(?:ever)?|unless|otherwise|else|for|given|with|without|each|every|per|on|case|lines?|first|then|also|"
    r"finally|last(?:ly)?|end|until|while|example|eg|sample|format|something|similar|like\s+so|e\.g|about|"
    r"roughly|called|function|method|test|echo|random|usually|starts?|ends?|begins?|contains?)\b"
    r"|\w\(|\.py[`\"']?\s+(?:[-\d\"'<|]|\w+=)|[<|]",
    re.IGNORECASE,
)
"""Makes a demand hold for a part of the output, for a case, or only roughly."""
_LEAD_END = regex(r"[^:]{0,40}:?")  # a block follows at once, or it belongs to something else
_NOT_LEAD_END = regex(r"\b(?:but|prints?|printed|however|and|or)\b", re.IGNORECASE)
_HEADING = regex(r"\W*(?:expected|desired|correct|required)(?:\s+(?:output|result))?\W*", re.IGNORECASE)
_SPEAKS_OF_OUTPUT = regex(r"\b(?:output|prints?|printed|result)\b", re.IGNORECASE)
_PRESENT = regex(
    r"\b(?:currently|actual(?:ly)?|now|moment|today|present(?:ly)?|instead|wrong(?:ly)?|got|gets?|gives|getting|saw|see|"
    r"ran|but|traceback|errors?|fail(?:s|ed)|crash\w*|existing|old|previous(?:ly)?|input|reads?)\b",
    re.IGNORECASE,
)
"""Words of a line that shows what a program prints today, or what it is given."""
_PURPOSE = regex(
    r"\b(?:so(?:\s+that)?|that|which|to|makes?)\s+(?:(?:it|[\w.]+\.py)\s+)?(?:prints?|outputs?)\b", re.IGNORECASE
)
_FAULT = regex(
    r"\b(?:fix\w*|bugs?|wrong\w*|broken|errors?|fail\w*|crash\w*|repair\w*|debug\w*|incorrect\w*|why)\b", re.IGNORECASE
)
_PLAIN_LANGUAGES = frozenset(
    {"", "text", "txt", "plain", "plaintext", "output", "stdout", "console", "json", "csv", "none"}
)
_NO_OUTPUT = regex(
    r"^[ \t]*(?:\.{3}|…|\[(?:\.{3}|…)\])[ \t]*$|^(?:\$|>>>) |^Traceback \(most recent call last\):", re.MULTILINE
)
_PLACEHOLDER = regex(r"<\w[\w ]*>|\{\w*\}|\.{3}|…|\\|%[sdf]\b|\w\(|^\w+_\w+$|^\w+\.[A-Za-z]\w*$")
_PIECE = regex(
    r"(?:[ \t]+(?:exactly|just|only|the\s+(?:text|line|word|number|value|string)))*[ \t]{0,9}:?[ \t]{0,9}"
    r"(?:`(?P<code>[^`\n]{1,999})`|\"(?P<quote>[^\"\n]{1,999})\"|“(?P<curly>[^”\n]{1,999})”|(?P<bare>[-+]?\d+(?:[.,:]\d+)*%?|[A-Za-z]+)(?!\w))"
)
_CONTRAST = (
    r"(?:(?:on|to)\s+(?:the\s+)?(?:stdout|standard\s+output|screen|console|terminal)\b"
    r"|(?:,|\()?\s*(?:and\s+)?(?:but|instead|not|rather|however|yet|currently|while\s+it|got)\b)"
)
_AFTER_QUOTE = regex(rf"[ \t]*(?:$|\n|[.!;)](?:\s|$)|{_CONTRAST})", re.IGNORECASE)
_AFTER_BARE = regex(rf"[ \t]*(?:$|\n|\.(?:\s|$)|{_CONTRAST})", re.IGNORECASE)
_BARE_WORDS = _words("hello hi yes no true false ok okay done pass fail passed failed success")
"""Output without quotes, rather than a description of it."""
_SENTENCE_END = regex(r"[.!?;:](?=\s)|\n")
_WRAPPED = regex(r"(?<![: \t])[ \t]*\n[ \t]*(?![^\w\n]{0,9}\w+(?: \w+)?:)")
"""A line end inside a sentence: not after a colon, not before a label (`Actual: …`)."""


class _Part(Struct):
    """A stretch of plain text, or the text between fences."""

    text: str
    fenced: bool = False
    language: str = ""


def stated_output(prompt: str) -> str | None:
    """The whole output that the prompt demands; None unless it says so clearly.

    Read are a fenced block after a line like "Expected output:" or "it should print:", a piece in backticks or double
    quotes after such words, and a number or a word at the end of a sentence ("should print 42."). Two different
    demands, or one for a case or a part of the output, count as none.
    """
    parts = _parts(prompt.replace("\r\n", "\n"))
    # First: a block says more than a number in a sentence.
    blocks = {text for lead, text in _led_blocks(parts) if _demands_block(lead)}
    if blocks:
        return blocks.pop() if len(blocks) == 1 else None  # two demands: which of them is meant is not said
    pieces = (_piece(text, match) for text in _paragraphs(parts) for match in _demands(text))
    first = next(pieces, "")
    if first == "":
        return _announced_block(parts)
    return first if first is not None and all(piece == first for piece in pieces) else None


# --- fenced blocks ----------------------------------------------------------------------------------------------------


def _parts(prompt: str) -> list[_Part]:
    """The prompt cut at its fences; a block that is not closed is left out."""
    parts: list[_Part] = []
    position = 0
    for block in fenced_blocks(prompt):
        parts.append(_Part(text=prompt[position : block.start].strip("\n")))
        position = block.end
        if block.closed:
            opening = prompt[block.start : position]
            indent = opening[: len(opening) - len(opening.lstrip())]
            body = "\n".join(line.removeprefix(indent) for line in block.text.split("\n"))
            parts.append(_Part(text=body, fenced=True, language=block.language))
    return [*parts, _Part(text=prompt[position:].strip("\n"))]


def _led_blocks(parts: Sequence[_Part]) -> Iterator[tuple[str, str]]:
    """Blocks that can be output, each with the end of the sentence before it."""
    for before, block in pairwise(parts):
        plain = block.fenced and block.language in _PLAIN_LANGUAGES and not _NO_OUTPUT.search(block.text)
        lines = [] if before.fenced else before.text.rstrip().split("\n\n")[-1].split("\n")
        if plain and block.text.strip() and any(line.strip() for line in lines):
            yield _last_sentence(_prose(" ".join(lines)).strip()), block.text


def _demands_block(lead: str) -> bool:
    """Whether words demand the block that they lead to."""
    marks = list(_DEMAND.finditer(lead))
    if _HEADING.fullmatch(lead) or not marks:
        return bool(_HEADING.fullmatch(lead))
    after = lead[marks[-1].end() :]
    is_end = bool(_LEAD_END.fullmatch(after)) and lead.endswith(":") and not _NOT_LEAD_END.search(after)
    return is_end and not _CASE.search(_RUN.sub(" ", lead[: marks[-1].start()])) and not _CASE.search(after)


def _announced_block(parts: Sequence[_Part]) -> str | None:
    """The one block after a line that speaks of output without a demand, if it cannot be what is printed today."""
    leads = [(lead, text) for lead, text in _led_blocks(parts) if lead.endswith(":") and _SPEAKS_OF_OUTPUT.search(lead)]
    if len(leads) != 1:
        return None
    lead, text = leads[0]
    faulty = any(_FAULT.search(part.text) for part in parts if not part.fenced)
    # "It prints:" in a report of a fault shows what is wrong today.
    if _PRESENT.search(lead) or _CASE.search(_RUN.sub(" ", lead)) or (faulty and not _PURPOSE.search(lead)):
        return None
    return text


# --- pieces in the text -----------------------------------------------------------------------------------------------


def _prose(text: str) -> str:
    return text.replace("**", "").replace("e.g.", "eg").replace("i.e.", "ie").replace("’", "'")


def _paragraphs(parts: Sequence[_Part]) -> Iterator[str]:
    """Paragraphs without pasted lines, each as one line; only after a colon lines stay apart."""
    for part in parts:
        if not part.fenced:
            for paragraph in re.split(r"\n[ \t]*\n", part.text):
                # Indented and quoted lines are pasted: output, code, another's words.
                lines = [line for line in paragraph.split("\n") if not re.match(r" {4}|\t|>", line)]
                yield _prose(_WRAPPED.sub(" ", "\n".join(lines)).strip())


def _demands(text: str) -> Iterator[re.Match[str]]:
    """Demands that the text makes itself, not in backticks or quotes."""
    for match in _DEMAND.finditer(text):
        before = text[: match.start()]
        # An odd number of marks before it: the words stand in a quotation.
        if before.count("`") % 2 == 0 and before.count('"') % 2 == 0 and before.count("“") == before.count("”"):
            yield match


def _piece(text: str, demand: re.Match[str]) -> str | None:
    """The output that a demand states in its own sentence, or None."""
    if _CASE.search(_RUN.sub(" ", _last_sentence(_before(text, demand)))):
        return None
    found = _PIECE.match(text, demand.end())
    if found is None:
        return None
    rest = text[found.end() :]
    bare: str | None = found["bare"]
    if bare is not None:
        literal = not bare[-1].isalpha() or bare.lower() in _BARE_WORDS
        return bare if literal and _AFTER_BARE.match(rest) else None
    quoted: str = found["code"] or found["quote"] or found["curly"]
    return quoted if _AFTER_QUOTE.match(rest) and not _PLACEHOLDER.search(quoted) else None


def _before(text: str, match: re.Match[str]) -> str:
    # bounded, as expressions are run over it for each demand
    return text[max(0, match.start() - 2_000) : match.start()]


def _last_sentence(text: str) -> str:
    ends = [match.end() for match in _SENTENCE_END.finditer(text.rstrip(" :"))]
    return text[ends[-1] :] if ends else text


# --- edits that the prompt asks for -----------------------------------------------------------------------------------

_EDIT = _words(
    "update edit change modify fix correct adjust adapt extend rewrite rename refactor remove delete rm regenerate add"
    " replace append insert move reformat simplify improve write expand complete convert migrate port modernize"
)
_NEGATION = _words("nobody not don't dont never without no cannot can't mustn't shouldn't needn't avoid neither nor")
_NOUN_AFTER = _words("the a an this my your our last latest recent of")
_STOPS = _words(". ; : ! ?") | {"\n\n"}
_MAKE_TARGET = regex(r"\bmake (?=(?:targets?|rules?)\b)", re.IGNORECASE)
"""No verb: "rename the make target test in the Makefile"."""
_PUT_ENDS = _words("so that until till because if while make makes let pass passes must should but without from as")
"""Words after which no more is said of where tests go."""
_BREAK = _STOPS | _words(
    "so that until till such because if when while make makes get let pass passes against with using by from per see"
    " according like as which where run satisfy match matches via after before since whose failed fails failure read"
    " failures error errors reported shown is are should must checked tested expected required touch leave keep"
)
"""Words (and signs) between a verb and a file's name after which the file is not what the verb acts on."""
_DOING = regex(r"(?!missing|existing|string)\w+ing")
_ABOUT = _words("for on about through over")
_JUDGES = regex(r"must|should|pass|fail\w*|will|still|errors?|(?!this$|as$|tests$|imports$|cases$|unless$)[a-z]{3,}s")
"""What follows a file that demands or says something: verbs in the third person."""
_AFTER_LIST = _STOPS | _words(", and to so with too as accordingly in") | {""}
_FAILING_TEST = regex(r"\b(?:fix|mend|repair|solve|debug)\s+(?:the\s+)?(?:\S+::\S+|test_\w+\s+in\s+\S+)", re.IGNORECASE)
"""A test that is to pass."""
_TOKEN = regex(r"(?<![\w./-])[./]{0,3}\w(?:[\w./'-]*\w)?|[.,;:!?&](?=\s|$)|\n\n")
_ALL_TESTS = regex(
    r"\b(?:update|edit|change|rewrite|extend|adjust|adapt|improve|refactor|convert|migrate|port|moderni[sz]e)\s+"
    r"(?:(?:all|the|our|my|these|existing|unit|unittest)\s+){0,3}(?:tests|test (?:files|cases|suites?))\b"
    r"(?!\.?[/\w]|\s+(?:pass|must|data))"
    r"|(?:\A|[.;!\n]\s*)(?:(?:no|oh|but|and|hm+),? )*you (?:forgot|missed|left out)\s+(?:the|all|our|my)\s+tests\b"
    r"(?=\s*(?:[.,;!\n]|\Z|and\b))"
    r"|\bfix\s+(?:(?:both|the)\s+){0,2}(?:tests\s+(?:and|&)\s+(?:the\s+)?code|code\s+(?:and|&)\s+(?:the\s+)?tests)\b"
    r"(?=\s*(?:(?:too|as well|accordingly|together)\b\s*)?(?:[.,;!\n]|\Z|so that\b))",
    re.IGNORECASE,
)
_CHANGES = (
    r"\b(?:port|convert|migrate|translate|moderni[sz]e|upgrade|rename|remove|delete|drop|rewrite|refactor|update|move|replace"
    r"|split|switch)\b(?P<what>(?:[^.;\n]|\.(?=\w)){0,80}?)"
)
_PASSES = regex(r"\b(?:pass\w*|fail\w*|green|red|runs?(?! on\b)|so that|until|check\w*)\b", re.IGNORECASE)
_ALL_OF_THEM = r"(?:(?:the|its|their|all|our|my)\s+)*tests?\b"
_DENIED = r"\b(?:not|never|no|none|nor|neither|without|doubt)\b|n['’]t\b"
_LEFT_OPEN = r"\b(?:if|whether|unless|why|wonder\w*|say\w*|said|claim\w*|rather|nobody|hardly|wrong|reject)\b"
_CLAUSE_END = regex(r"[.;:!?\n](?=\s|\Z)")
_ANY = rf"(?!{_DENIED})[^.;\n]"
_UNDENIED = rf"(?:{_ANY}){{0,60}}?"
_NEED = (
    r"(?:\s+(?:(?:will|also|may|might|probably|then)\s+)*needs?\s+(?:to\s+be\s+(?:adapt|adjust|updat|chang)ed"
    r"|(?:an?\s+|some\s+)?(?:adapt(?:ing|ations?)|adjust(?:ing|ments?)|updat(?:ing|es?)|chang(?:ing|es?))\b"
    r")(?=\s*(?:[.,;!\n]|\Z"
    r"|(?:too|as well|accordingly|also|then|afterwards|and|because|since|so|for (?:it|this|that))\b))"
    r"(?!\s*(?:,|and\b|so\b)(?!\s*(?:too|as well|also|(?:please )?(?:adapt|update|change) (?:them|the tests))\b))"
    rf"|\s+will\s+(?:also\s+|then\s+|probably\s+)*need\s+(?:(?!\bto\b){_ANY}){{0,40}}?\b(?:texts?|strings?|words?"
    r"|messages?|names?|values?|outputs?)\s+(?:too|as well|accordingly)\b)"
)
_THEM = (
    rf"\s+(?:check|expect|compare|contain|name|use|pin|assert)\w*\b{_UNDENIED}\b(?:adapt|adjust|update|change|translate)"
    r"\s+them\s+(?:too|as well|accordingly)\b"
)
_TESTS_NEED = regex(rf"\btests(?:{_NEED}|{_THEM})", re.IGNORECASE)
_FILE_NEEDS = regex(
    rf"(?<![\w./-])(?P<file>[\w./-]++)(?:{_NEED}"
    r"|\s+(?:(?:is|looks|seems)\s+(?:(?:very|quite|too|rather|known to be)\s+)?(?:flaky|brittle|fragile"
    r"|unreliable|outdated)\b|passes for the wrong reasons?\b"
    r"|(?:tests|checks|proves) nothing\b(?!\s+(?:but|else|other|than)\b))"
    r"(?:(?!\b(?:because|since|due|but|as|no|not(?!\s+\w+ed[.;])|never|cannot|false|wrong|bug|leave|ignore|skip|yet|though"
    r"|without)\b|n['’]t\b|\?|\w(?:\.\w|\())[^\n]){0,120}?"
    r"\b(?:fix|mend|repair|rewrite|correct|make)\s+(?:it|th(?:e|is|at) test)\b"
    r"(?!\s+(?:pass|fail|succeed|green|in\b|there\b|later\b)))",
    re.IGNORECASE,
)
"""Of a test file that it is to change, or what is wrong with it itself, and that it is to be mended."""
_TESTS_TOO = regex(
    rf"{_CHANGES}(?:(?:,|\band)\s+{_ALL_OF_THEM},?\s+(?:too|as well|also|included)"
    rf"|[.;!\n]\s+(?:and\s+)?{_ALL_OF_THEM},?\s+(?:too|as well|also)(?:,? please)?(?!\s*[^\s.;!])"
    rf"|(?:\bincluding|\btogether with|\balong with)\s+{_ALL_OF_THEM}|\band\s+(?:the|its|their|all)\s+tests\b)"
    r"(?=\s*(?:[.,;!\n]|\Z|(?:to|into|from|with)\b))",
    re.IGNORECASE,
)
"""Tests that are to be changed with the rest."""
_GOES = regex(r"(?i:remove|delete|drop)\b.*(?:\w_\w|[a-z][A-Z]).*\b(?i:its|their)\b")
"""Of a name of code that goes with its tests: they are no others than those that use it."""
_THE_TESTS = (
    r"(?:(?:all|both|the|these|those|that|this|your|my|our|new|old|made|existing|own|last|first|other|two|three|four|of"
    r"|them|unit)\s+){0,5}(?:tests?|specs?)(?: files?| cases?)?\b(?![/.]\w)"
)
# No noun of which they are a part: "the test data".
_ALONE = (
    r"(?=\s+(?:from|in|of|to|into|out|over|together|and|or|please|now|again|where|with|by|too|as|that|which|you|a"
    r"|instead|before|after|here|there)\b|\s*[^\w\s]|\s*\Z)"
)
_PUT = r"(?:move|put|merge|fold|integrate)"
_TESTS_PUT = regex(rf"\b{_PUT}\s+{_THE_TESTS}{_ALONE}", re.IGNORECASE)
_TESTS_RESHAPED = regex(
    rf"\b(?:{_PUT}|rename|split|shorten|simplify|shrink|reduce|trim|rewrite|tidy|delete|remove|drop)\s+{_THE_TESTS}"
    rf"{_ALONE}|\bmake\s+{_THE_TESTS}(?=[^.;\n]{{0,40}}\b(?:short|small|simpl|lean|less|fewer))"
    r"|\A[^.;\n]{0,60}\bfile\b[^.;\n]{0,30}\b(?:delete|remove|drop)\s+(?:it|that|them)\W*\Z"
    r"|\b(?:delete|remove|drop)\s+yours\b",
    re.IGNORECASE,
)
_CODE = r"(?:code|scripts?|programs?|files?|modules?|functions?|class(?:es)?|loops?|it|[\w./-]+\.py|\w+_\w+|\w+\(\))"
_OBJECT = (
    rf"(?:(?:the|this|that|these|my|our|all|both|of|in|whole|\w+_\w+)\s+)*{_CODE}"
    rf"(?:(?:,|\s+and|\s+in|\s+of)\s+(?:the\s+)?{_CODE})*"
)
_VERB = r"(?:refactor|restructure|reorgani[sz]e|tidy|clean|simplify|moderni[sz]e|optimi[sz]e|speed|vectori[sz]e)"
_NO_MORE_THAN_CODE = regex(
    r"\W*(?:please\s+|(?:can|could|would) you\s+)*(?:"
    rf"{_VERB}(?:\s+up)?\s+{_OBJECT}(?:\s+up)?|put\s+{_OBJECT}\s+into\s+\w+\.py"
    rf"|make\s+{_OBJECT}\s+(?:much\s+)?(?:fast(?:er)?|quick(?:er)?|(?:more\s+)?(?:readable|pythonic)|cleaner)"
    rf"|add\s+(?:type hints|type annotations|docstrings)(?:\s+(?:to|in)\s+{_OBJECT})?"
    rf"|rename\s+(?!\S+\.py)\w+\s+to\s+\w+(?:\s+in\s+{_OBJECT})?"
    r")(?:\s+(?:in)?to\s+(?:\w+\s+){0,2}(?:functions?|modules?|class(?:es)?))?(?:\s+with an? main\(\))?"
    r"(?:\s+everywhere)?(?:,?\s+please)?\W*",
    re.IGNORECASE,
)
_RESULTS = r"\b(?:outputs?|results?|behaviou?r|numbers|what (?:it|they) (?:do|print|write)\w*)\b"
_STAYS = r"\b(?:the same|not change|n['’]t change|unchanged|identical|as before|as (?:it|they) (?:is|are))\b"
_KEPT = regex(
    rf"{_RESULTS}(?:[^.;\n]|\.(?=\w)){{0,60}}{_STAYS}"
    rf"|\b(?:without|not|n['’]t|never) chang(?:e|ing)\b[^.;\n]{{0,40}}{_RESULTS}"
    rf"|\b(?:keep\w*|same|identical)\b[^.;\n]{{0,20}}{_RESULTS}|\bnothing else (?:may|must|should|is to) change\b",
    re.IGNORECASE,
)
"""What says that the output must not change."""
_DOUBT = regex(
    r"\b(?:but|except\w*|apart|other than|besides|also|plus|add (?:an?|the|one|some)|new|second|wrong|fix\w*"
    r"|repair|bugs?|off by|only)\b"
    r"|\b(?:same|identical|equal)\s+(?:as|to)\s+(?!before|now)|\bis not\b|n['’]t (?:give|print|write)"
    r"|\bsplit\b(?:[^.;\n]|\.(?=\w)){0,60}\b(?:scripts|programs|in(?:to)? (?:two|three)(?! (?:func|modul|class)))"
    r"|\bwhen (?:I|we|you)\b",
    re.IGNORECASE,
)
"""Beside that it may be something else that is asked for."""
_PLACE_CHARS, _MOST_PLACES = 300, 5  # of what follows, and of such requests in one prompt
_REFUSED = r"kein\w*|nicht|ohne|sans|pas|aucune?|sin|sem|senza|nessuno?|zonder|geen|без|не|nie"
_TESTS = r"(?:tests?|testes?|pruebas?|тест\w*)\b"
_NO_TESTS = regex(
    r"\b(?:no|without|not|never|[a-z]+n['’]?t|keep|leave)\b(?:[ \t]+[\w'’]+){0,6}?[ \t]+(?:tests?|specs?)\b"
    r"(?!\s+files?\b)|\bhands off\b"
    r"|\b(?:tests?|specs?)\b[^.;\n]{0,30}\b(?:stay|remain|alone|unchanged|untouched|protected"
    r"|as (?:they|it) (?:are|is)|read.?only)\b"
    rf"|\b(?:kein\w*|ohne|sans|zonder|geen|senza|nessuno?|aucune?|без)\s+(?:\w+\s+){{0,3}}?{_TESTS}"
    rf"|\b(?:sin|sem)\s+(?:tocar|cambiar|modificar|mexer|alterar|romper)\s+(?:\w+\s+){{0,2}}{_TESTS}"
    rf"|\b(?:no|não|nao|non|не|niet)\s+(?:\w+\s+)?(?:toques|cambies|modifiques|toque|mexa|altere|toccare|modificare|меняй"
    rf"|трогай|изменяй|wijzig\w*)\s+(?:\w+\s+){{0,2}}{_TESTS}"
    rf"|\bne\s+(?:touche|modifie|change)\w*\s+(?:\w+\s+){{0,3}}{_TESTS}"
    rf"|\bnicht\s+(?:die\s+|an\s+)*{_TESTS}\s+\w*(?:änder|anfass|anrühr)"
    rf"|\b{_TESTS}\s+(?:\w+\s+)?nicht\s+\w*(?:änder|anfass|anrühr)"
    r"|(?:不要|别|勿)[^，。,.\n]{0,6}测试|テスト[^。、\n]{0,6}ないで",
    re.IGNORECASE,
)
"""What forbids a change of tests, or wants none."""
BAN = regex(
    r"\b(?:(?:do not|don['’]?t|dont|never|without|not) (?:touch|chang|edit|modify|alter)(?:e|ing)?"
    r" (?:(?:the|any|my|our|these|of) )*tests?\b(?: files?)?"
    r"|(?:leave|keep) (?:(?:the|my|our|these|all) )*tests?(?: files?)?"
    r" (?:alone|untouched|unchanged|as (?:they|it) (?:are|is))"
    r"|(?:die )?tests? (?:bitte )?nicht (?:anfassen|ändern|anrühren)"
    r"|(?:nicht|ohne) die tests (?:anfassen|ändern|zu ändern|anzufassen)"
    r"|(?:sin tocar|no toques) (?:los |las )?(?:tests|pruebas)|ne touche\w* pas aux tests)",
    re.IGNORECASE,
)
"""What forbids a change of tests, in so many words, and says nothing of what is wrong."""
_TESTS_ELSEWHERE = regex(
    r"(?<!no )(?<!não )(?<!nao )(?<!non )(?<!не )(?<!ne )(?<!n')"
    r"\b(?:schreib\w*|erstelle?|ergänze?|füge?|écri\w*|ajoute\w*|crée\w*|escrib\w*|añad\w*|agrega\w*|crear?|escrev\w*"
    r"|adicion\w*|crie|scriv\w*|aggiung\w*|schrijf|voeg|напиши\w*|добавь\w*)\b"
    rf"(?P<gap>(?:(?!\b(?:{_REFUSED})\b)[^.;\n]){{0,60}}?)\b(?:(?:unit)?tests|testes|pruebas|тест(?:ы|ов)?)\b"
    r"|(?<!不要)(?<!别)(?:写|编写|添加|增加|补充)[^，。；,;\n]{0,20}测试|テストを?(?:書い|追加|作っ|作成)(?!.*ないで)",
    re.IGNORECASE,
)
"""Tests that are asked for in other languages than English."""
_ONLY_ARTICLES = regex(
    r"\s*(?:(?:mir|mal|bitte|ein|paar|einige|noch|neue|unos|unas|algunos|nuevos|des|quelques|les|los|las|me|moi|alguns|uns|dei"
    r"|wat|несколько|новые)\s+)*",
    re.IGNORECASE,
)
_POLITE_CHARS = 12  # before what is asked for: "por favor"
_AND_ELSEWHERE = regex(r"\b(?:und|et|y|e|и|dann|puis|luego|depois|потом)\b|和|然后|并|そして", re.IGNORECASE)


NONE_WANTED = regex(
    r"(?<!is )(?<!'s )(?<!are )(?<!was )(?<!has )(?<!have )"
    r"\b(?:no|without|(?:do not|don['’]?t) (?:need|want|write|add|make)(?: me)?)"
    r"\s+(?:(?:any|new|extra|more|unit|a)\s+)?tests?\b"
    r"(?!\s+(?:file|fail|pass|run|break|chang|may\b|must|should|is\b|are\b|was\b|were\b|of\b|cover|show|see|catch|that\b)\w*)",
    re.IGNORECASE,
)
"""What asks for no test, and tells of none: not "no test fails"."""


def files_to_edit(prompt: str, paths: Sequence[str], files: Sequence[str] = ()) -> tuple[str, ...]:
    """Those of `paths` that the prompt asks to change: "update tests/test_x.py", "add a test to test_x.py".

    "make test_x.py pass" and "fix app.py so that test_app.py passes" ask for no such change, and neither does a failure
    that is to be fixed "in test_x.py". "Update the tests" stands for every test file. Of several with one name those
    are meant that are among the `files` that the prompt names.
    """
    text = _MAKE_TARGET.sub("", _FAILING_TEST.sub(" ", _said(prompt)))
    tokens = [match[0] for match in _TOKEN.finditer(text)]
    asked: set[str] = set()
    for place, token in enumerate(tokens):
        named = "." in token or token in MAKEFILES or tokens[place - 1 : place] in (["to"], ["into"])
        meant = _meant(token, paths, files) if named else []
        if meant and _is_edited(tokens, place):
            asked.update(meant)
    if not forbids_tests(prompt):
        for match in _undenied(_FILE_NEEDS, text):
            asked.update(filter(is_test_file, _meant(match["file"], paths, files)))
    if (
        any(_wanted(_ALL_TESTS, text))
        or (any(_undenied(_TESTS_NEED, text)) and not forbids_tests(prompt))
        or any(not _PASSES.search(found["what"]) and not _GOES.match(found[0]) for found in _wanted(_TESTS_TOO, text))
    ):
        asked.update(path for path in paths if is_test_file(path))
    for match in islice(_wanted(_TESTS_PUT, text), _MOST_PLACES):
        sentence = _SENTENCE_END.split(text[match.end() : match.end() + _PLACE_CHARS], maxsplit=1)[0]
        places = takewhile(lambda word: word.lower() not in _EDIT | _PUT_ENDS, _TOKEN.findall(sentence))
        asked.update(path for token in set(places) for path in _meant(token, paths, files))
    return tuple(path for path in paths if path in asked)


def forbids_tests(prompt: str) -> bool:
    """Whether the user wants no test, or none touched."""
    return _NO_TESTS.search(prompt) is not None


def asks_tests_elsewhere(prompt: str, *, alone: bool = False) -> bool:
    """Whether tests are asked for, in another language than English. `alone`: and nothing else."""
    found = _TESTS_ELSEWHERE.search(prompt)
    if found is None or not alone:
        return found is not None
    bare = _ONLY_ARTICLES.fullmatch(found["gap"] or "") is not None
    return bare and found.start() <= _POLITE_CHARS and _AND_ELSEWHERE.search(prompt) is None


def demands_same_output(prompt: str) -> bool:
    """Whether a prompt says that what is printed must not change, or asks for nothing but other code."""
    said = _said(prompt)
    if _KEPT.search(said) and not _DOUBT.search(said):
        return True
    return bool(_NO_MORE_THAN_CODE.fullmatch(" ".join(prompt.split())))


def reshapes_tests(prompt: str) -> bool:
    """Whether a prompt asks to move, rename, shorten or delete tests, or what was spoken of: it means no check."""
    return any(_wanted(_TESTS_RESHAPED, _said(prompt)))


def _said(prompt: str) -> str:
    """A prompt's own sentences, without what it quotes."""
    return _prose("\n\n".join(part.text for part in _parts(prompt) if not part.fenced))


def _wanted(verb: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The places of a verb where it is a demand."""
    return (match for match in verb.finditer(text) if _is_verb(_TOKEN.findall(_before(text, match))))


def _undenied(need: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The places of a need that the clause before it neither denies nor leaves open, and that is not asked about.

    Not "none of the tests need to be changed", "if the tests need changes, stop", "the tests need changes? No".
    """
    for match in need.finditer(text):
        before, after = re.split(r"[.;:!?\n]", text[: match.start()])[-1], _CLAUSE_END.search(text, match.end())
        if not re.search(rf"{_DENIED}|{_LEFT_OPEN}", before, re.IGNORECASE) and (after is None or after[0] != "?"):
            yield match


def _meant(token: str, paths: Sequence[str], files: Sequence[str]) -> list[str]:
    name = token.removeprefix("./")
    found = [path for path in paths if path == name] or [path for path in paths if path.endswith(f"/{name}")]
    if not found and "_" in name:  # "move the tests into nav_tests"
        found = [path for path in paths if is_test_file(path) and splitext(basename(path))[0] == name]
    # Which of several is meant must be said elsewhere; to free them all would free the check.
    return found if len(found) < 2 else [path for path in found if path in files]


def _is_edited(tokens: Sequence[str], place: int) -> bool:
    """Whether the file named at `place` is the object of a verb of change, alone or in a list."""
    after = tokens[place + 1].lower() if place + 1 < len(tokens) else ""
    listed = False
    for back in range(place - 1, max(-1, place - 10), -1):  # further away the verb belongs to something else
        word = tokens[back].lower()
        if word in _EDIT and _is_verb(tokens[:back]):
            return after in _AFTER_LIST if listed else not _JUDGES.fullmatch(after)
        denied = word in _EDIT and tokens[back - 1].lower() in _NEGATION
        if denied or word in _BREAK or _DOING.fullmatch(word) or (back == place - 1 and word in _ABOUT):
            return False
        if re.search(r"\w[./]\w", word):
            if tokens[back + 1].lower() not in {"and", "or", ",", "&"}:
                return False
            listed = True
    return False


def _is_verb(before: Sequence[str]) -> bool:
    """Whether a word of change after these words is a demand: no noun, and not forbidden."""
    sentence: list[str] = []
    for word in before[-12:]:
        sentence = [] if word in _STOPS else [*sentence, word.lower()]
    return not (sentence and sentence[-1] in _NOUN_AFTER) and _NEGATION.isdisjoint(sentence)
