"""A wish to commit, or to take a commit back, in everyday words, and its command line; what asks for more is a task."""

import re

from codur.lazy import regex
from codur.planning.patterns.classify import OF_DATABASES

_MAX_CHARS = 2_000
_LEAD = (
    r"(?:ok|okay|yes|yep|right|good|great|nice|perfect|fine|cool|alright|all right|thanks|thank you|thx|ty|cheers|hm+"
    r"|(?:i(?:'ve| have)? (?:set|did|done)|set|done) (?:it|that)(?=[,.!;:])"
    r"|i meant? (?!undo|revert|delete|remove|drop|not\b)(?:[^\s.,;:!?]| ){1,60} (?:fix|change|edit|one)"
    r"|now|so|then|well|and"
    r"|(?:that|it|this|all)(?:'s| is| looks)? (?:good|fine|ok|okay|great|it|all)|looks good"
    r"|(?:forget|leave) (?:it|that)(?: then)?|never ?mind(?: then| that)?"
    r"|please|just|go ahead|(?:can|could|would|will) you|let's|let us|i want to|you can|you may)"
)
_VERB = r"(?:commit|(?:make|do|create) (?:a|the|one) commit(?: (?:of|for))?)"
_LAST = r"the last (?:one|task|change)|your last change"
_ALL = (
    r"everything|(?:(?:it|this|that) )?all|(?:all )?the rest|(?:all |all of )?my (?:changes|work|edits)"
    r"|(?:everything|all|what)(?: that)? (?:we|i)(?:'ve| have| did| changed)(?: (?:so far|got|done|changed|here))?"
)
_STAGED = (
    r"(?:all |only |just )?(?:of )?(?:(?:the |my )?staged(?: (?:changes|files|edits|work|stuff|ones?))?"
    r"|(?:everything |all )?(?:what|that)(?:'s| is| i(?:'ve| have)?)(?: already)? staged|the index)"
)
_RUNS = (
    r"(?:all (?:of )?)?(?:this|that|it|(?:(?:these|those|your|the) )?(?:changes|edits|fixes|work))"
    r"|(?:the|this|your) fix"
    r"|what you(?:'ve| have)? (?:did|done|changed|made)"
)
_TAIL = (
    r"(?: (?:so far|now|then|please|for me|as well|to git|thanks|thank you"
    r"|on its own|by itself|separately))"
)
_ANY = r"(?:(?:with|using|and use) (?:a|some) (?:\w+ )?(?:commit )?message)"
_QUOTED = r"(?:\"(?P<q1>[^\"]+)\"|“(?P<q2>[^”]+)”|‘(?P<q3>[^’]+)’|'(?P<q4>(?:[^']|(?<=\w)'(?=\w))+)')"
_NAMED = r"(?:(?:with|using|as)(?: the| a| this)?(?: commit)? (?:message|msg|subject):?|as)"
_MORE = (
    r"[.;]\s+\w|\b(?:then|also|but|except|without|leave|don['’]?t|do not|not)\b"
    r"|\band (?:push|run|tag|release|open|merge|rebase)\b"
)
_BARE = (
    r"(?:with|using)(?: the| this)?(?: commit)? (?:message|msg|subject):? "
    rf"(?P<bare>(?!.*(?:{_MORE}))[^\"'`“‘\s][^\"`“”\n]*)"
)
_WISH = regex(
    rf"(?:{_LEAD}[,.!?;:]* ?(?:-+ )?){{0,6}}{_VERB}"
    rf"(?: (?P<what>(?P<last>{_LAST})|(?P<staged>{_STAGED})|(?P<all>{_ALL})|(?:{_RUNS})))?{_TAIL}{{0,3}}"
    rf"(?:,? (?:{_ANY}|(?:(?P<named>{_NAMED}) )?{_QUOTED}|{_BARE})|(?(what): (?P<colon>(?!.*(?:{_MORE}|\?))[^\n]+)))?"
    rf"(?:,?{_TAIL}){{0,2}}[.!]*",
    re.IGNORECASE,
)
_WORDED = regex(
    rf"(?:{_LEAD}[,.!?;:]* ?(?:-+ )?){{0,6}}(?:write|draft|make|create|generate|come up with) (?:me )?(?:a|the)"
    rf" (?:\w+ )?commit (?:message|msg)(?: (?:for|of) (?:(?P<staged>{_STAGED})|(?P<all>{_ALL})|(?:{_RUNS})))?"
    rf"(?:,? and(?: then)?|[,;.] then) commit(?: (?:it|them|this|that|those|everything))?{_TAIL}{{0,3}}[.!]*",
    re.IGNORECASE,
)
"""The message, and the commit that it is for."""
_UNDONE = regex(
    rf"(?:(?:{_LEAD}|no|wait|oops|actually)[,.!?;:]* ?(?:-+ )?){{0,6}}"
    r"(?:uncommit|un-commit|(?:undo|take back) (?:(?:the|that|this|your) )?(?:last )?commit(?: again)?"
    r"|take (?:the|that|this|your) (?:last )?commit back)"
    rf"(?: (?:it|this|that|the last (?:one|commit)))?(?:,?{_TAIL}){{0,2}}"
    r"(?:,? (?:but|and) (?:keep|leave) (?:the|my|all|your) (?:files|changes|edits|work)(?: as they are)?)?[.!]*",
    re.IGNORECASE,
)
_AMENDED = regex(
    rf"(?:{_LEAD}[,.!?;:]* ?(?:-+ )?){{0,6}}"
    r"(?:amend (?:(?:the|that|this|your) )?(?:last )?commit(?: with (?:it|this|that|them))?"
    r"|(?:add|fold) (?:it|this|that|them) (?:in)?to (?:the|that|your) (?:last )?commit)"
    rf"(?:,?{_TAIL}){{0,2}}[.!]*",
    re.IGNORECASE,
)
_BEGUN = regex(
    r"(?!(?:.*\W)?(?:no|not|never ?mind(?: then| that)?|(?:forget|leave) (?:it|that)(?: then)?)\s+"
    r"(?:git init|run|do|put|make|turn|init|create|begin|start|set)\b)"
    rf"(?:(?:{_LEAD}|no|you do (?:it|that))[,.!?;:]* ?(?:-+ )?){{0,6}}"
    r"(?:(?:(?:run|do) (?:a )?)?git init"
    r"|put (?:this|it|that|everything|all(?: of (?:this|it))?|the (?:project|code)) under"
    r" (?:git|version control)"
    r"|(?:make|turn) (?:this|it)(?: here)? (?:into )?a git repo(?:sitory)?"
    r"|(?:initiali[sz]e|init|create|begin|start|set up) (?:a )?(?:new )?(?:git(?: repo(?:sitory)?)?|git here))"
    rf"(?: here| in this (?:folder|directory))?(?:,?{_TAIL}){{0,2}}"
    rf"(?:,? (?:and|with) (?:(?:commit|add) (?:{_ALL}|{_RUNS}|all (?:the )?files)|(?:a|the) first commit))?"
    rf"(?:,?{_TAIL}){{0,2}}[.!]*",
    re.IGNORECASE,
)
_REWORDED = regex(
    rf"(?:{_LEAD}[,.!?;:]* ?(?:-+ )?){{0,6}}"
    r"(?:(?:change|set|rename) (?:(?:the|that|your) )?(?:last )?commit(?:'s)? (?:message|msg)"
    r"|reword (?:(?:(?:the|that|your) )?(?:last )?commit(?: message)?|it|that))"
    rf" (?:to|as|into):? (?:{_QUOTED}|(?P<bare>(?!.*(?:{_MORE}))[^\"'`“‘\s][^\"`“”\n]*))",
    re.IGNORECASE,
)
_CONDITION = regex(
    r",? (?:when|once|as soon as|if|after) "
    r"(?:(?:it|this|that|they|everything|all|all tests|the tests)(?:['’]?s)?(?: is| are)? )?"
    r"(?:green|done|pass(?:es)?|works?|finished|ready)[.!]*$",
    re.IGNORECASE,
)
"""What a commit waits for anyway that is wished for beside a task."""
AND_COMMIT = regex(
    r"(?P<task>.+?)(?:[,.;]\s+(?:and\s+)?(?:then\s+)?|\s+and\s+then\s+)(?P<wish>commit\b.*)", re.I | re.S
)
_AND_ALONE = regex(r"(?P<task>.+?)\s+and\s+(?:git\s+)?(?P<wish>commit\b.*)", re.I | re.S)
NO_DEED = regex(
    r"\A\W*(?:what|why|how|when|where|who|which|explain|describe|is|are|does|did|should|would|could)\b"
    r"|\bwhich\b|\bthat\s+(?!(?:as|plus|this|is)\b)(?:\w+s|can|will|may|must|should|could|have|do|are)\b"
    r"|\b(?:if|unless)\b[^,.;]*\Z"
    r"|\A\W*(?:(?:you|we|i)\b[^.;:]*\b)?(?:not|never|(?:do|does|did|is|are|was|were|wo|ca|should|would|could|must|need|have|has)n['’]?t)\b|\b(?:scripts?|hooks?|bots?|buttons?|commands?|begin)\b",
    re.I,
)
"""What a task says that is a question, or speaks of what others are to do: its last words are no wish of its own."""


def commit_wish(text: str) -> tuple[str, ...] | None:
    """The command line of a text whose whole wish is a commit, its end, or a repository; None if it asks for more."""
    said = text.lower()
    if ("commit" not in said and "git" not in said and "version control" not in said) or len(text) > _MAX_CHARS:
        return None
    if _BEGUN.fullmatch(text.strip()):
        return ("commit", "--init")
    if _UNDONE.fullmatch(text.strip()):
        return ("commit", "--undo")
    if _AMENDED.fullmatch(text.strip()):
        return ("commit", "--amend")
    if said_as := _REWORDED.fullmatch(text.strip()):
        new = next(filter(None, said_as.group("q1", "q2", "q3", "q4", "bare")))
        return ("commit", f"--reword={new.strip().removesuffix('.')}")
    if worded := _WORDED.fullmatch(text.strip()):
        return ("commit", *(f"--{name}" for name in ("staged", "all") if worded[name]))
    found = _WISH.fullmatch(text.strip())
    if found is None:
        return None
    quoted = next(filter(None, found.group("q1", "q2", "q3", "q4")), "")
    if quoted and not (found["named"] or (found["what"] and " " in quoted)):
        return None  # what is in quotes is as likely a file
    message = quoted.strip() or (found["bare"] or found["colon"] or "").strip()
    words = ["commit", *(["last"] if found["last"] else [])]
    words += [f"--{name}" for name in ("staged", "all") if found[name]]
    return (*words, *([f"--message={message}"] if message else []))


def task_to_commit(text: str) -> str:
    """The task of a text that ends with the wish to commit what it changes ("fix it and commit"); empty if none is."""
    said = text.strip() if len(text) <= _MAX_CHARS and "commit" in text.lower() else ""
    found = AND_COMMIT.fullmatch(said) or _AND_ALONE.fullmatch(said)
    if found is None or NO_DEED.search(found["task"]) or OF_DATABASES.search(text.lower()):
        return ""
    ordered = commit_wish(without_condition(found["wish"])) == ("commit",)
    return found["task"] if ordered and not found["task"].lower().startswith("git ") else ""


def without_condition(text: str) -> str:
    """A wish without "when it is green" and the like."""
    return _CONDITION.sub("", text)
