"""What kind of request a prompt is, from its words, where no rule settles it; if it asks for several things, or for
what no rule may do: shell commands, and what would destroy more than one named file.

A prompt is taken apart into clauses. Each clause is judged by the word it begins with (after polite words), which in a
request is the verb; a wish to change code in any clause decides for the whole.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from codur.lazy import regex
from codur.planning.patterns.courtesy import without_courtesy
from codur.planning.patterns.named_paths import is_file_like
from codur.planning.patterns.phrases import match, phrases, words
from codur.planning.patterns.prompt_tokens import Token, read_prompt
from codur.planning.patterns.refusals import begins_refused, is_order, is_refused, keeps_all
from codur.structs import Struct, replace
from codur.types import CODE_TASKS, TaskType

A_COMMAND = "a shell command; no rule runs one"
_SIGNS = frozenset("&& || | > >> < 2>&1 2> &".split())
_SEPARATORS = frozenset(". ! ? ; , : and then && |".split()) | {"\n"}
_TIME = regex(r"(?:under|below|than|most|within) (?:a|one|\d+(?:\.\d+)?) ?(?:ms|s|secs?|seconds?|minutes?)$")
_RUNS = frozenset({"run", "execute"})
_RUNS_QUOTED = _RUNS | {"do", "perform", "type"}


def danger_in(tokens: tuple[Token, ...]) -> str:
    """Why no rule may act on the request, or an empty text."""
    request = without_courtesy(tokens)
    if _is_command_line(request) or _runs_quoted_command(request):
        return A_COMMAND
    return "it would destroy more than one named file" if _destroys(request) else ""


def clauses(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    """The request's parts between marks and `and`, `then`; each without its polite words."""
    return [part for part, _ in _clauses(tokens)]


def _clauses(tokens: Sequence[Token]) -> list[tuple[tuple[Token, ...], bool]]:
    """The same, each with whether it is a question that is no polite order."""
    parts: list[list[Token]] = [[]]
    ends: list[str] = []
    for token in tokens:
        if token.key in _SEPARATORS or token.kind in {"fence", "paste"}:
            parts.append([])
            ends.append(token.key)
        else:
            parts[-1].append(token)
    bare = [without_courtesy(tuple(part)) for part in parts]
    asked = [end == "?" and len(one) == len(other) for one, other, end in zip(parts, bare, [*ends, ""], strict=True)]
    return [(part, is_asked) for part, is_asked in zip(bare, asked, strict=True) if part]


def _is_command_line(tokens: Sequence[Token]) -> bool:
    if not tokens or tokens[0].kind != "word":
        return False
    said = [token.key for token in tokens]
    named = said[1] if said[0] in _RUNS and len(said) > 1 else said[0]
    if named in words("programs"):
        return True
    signs = any(token.key in _SIGNS or token.text.startswith("$(") for token in tokens)
    flags = any(word.startswith("-") and len(word) > 1 for word in said[1:])
    known = said[0] in words("programs with known options")
    return said[0] in words("programs that are words") and (signs or (flags and not known))


def _runs_quoted_command(tokens: Sequence[Token]) -> bool:
    """`run` with a command line in backticks or quotes."""
    if not tokens or tokens[0].key not in _RUNS_QUOTED:
        return False
    quoted = (token.text for token in tokens[1:] if token.kind in {"code", "quote"} and len(token.text) <= 400)
    return any(_is_command_line(inner) or _destroys(inner) for inner in (read_prompt(text).tokens for text in quoted))


def _destroys(tokens: Sequence[Token]) -> bool:
    def any_word(_: str, token: Token) -> str | None:
        return token.text if token.kind == "word" else None

    destructive = phrases("destroys")
    return any(match(phrase, part[:12], any_word) is not None for part in clauses(tokens) for phrase in destructive)


SEVERAL = 3
"""So many different things asked for make a list of steps, which needs a plan and no classification before it."""
_CODE: tuple[TaskType, ...] = ("code_fix", "code_generation", "refactor")
_OTHER: tuple[TaskType, ...] = ("file_operation", "search", "git", "explanation", "run", "web_search")
_WEB_VERBS = frozenset("search look find check browse get google what's what which".split())
_READING = frozenset("fetch open read visit get load browse download".split())
_LOOKING = frozenset("find search look check identify spot".split())
_SHOWING = frozenset("show list display print give see".split())
_LOOKS = frozenset("read open show list view tree ls cat print display".split())
_ON_OBJECTS = frozenset("move delete remove erase rename copy write save add put".split())
_FORBIDDING = frozenset({"don't", "dont", "never"})
_RENAMING = frozenset("benenne renombra renomme renomeie rinomina hernoem переименуй".split())
_NEGATED = _FORBIDDING | {"not", "won't", "can't", "cannot"}
_POLITE_QUESTIONS = frozenset({("is", "it"), ("would", "it"), ("how", "about"), ("why", "don't"), ("why", "not")})
_BEFORE_QUESTIONS = frozenset("since in at for from with by until under on to".split())
_SUITES = frozenset("tests test pytest unittest unittests suite ci build jest vitest".split())
_BEFORE_SUITES = frozenset("the my our all some two three unit integration".split())
_TOOLS, _STILL = (
    frozenset("npm yarn pnpm cargo go make".split()),
    frozenset("all still now again suite run runs just keep keeps".split()),
)
_IS, _RED = frozenset({"is", "are"}), frozenset("red failing broken hanging stuck".split())
_ENDS = frozenset("fail fails failing hang hangs hanging".split())
_NEVER = frozenset("end ends finish finishes stop stops return returns come comes complete completes pass".split())
_HOW = frozenset("is are it's that's too so very really quite pretty awfully runs".split())
_ASK = frozenset("do does did is are was were has have".split())
_QUESTIONS = frozenset({"which", "what", "when"})
_FILE_WORDS = frozenset({"the", "file", "folder", "directory"})


class Classification(Struct):
    """The kind of request, how sure that is (0 to 1), and the word that decided."""

    task_type: TaskType = "unknown"
    confidence: float = 0.0
    reason: str = "no rule knows such a request"


_UNKNOWN = Classification()
_UNDER_WAY = r"(?:(?:the|this|my|that|it|on|with|git) ){1,4}(?:merge|rebase|cherry-pick|revert)"
_GIT_DEED = regex(
    r"(?!.*\w\.\w{1,4}\b)(?:"  # of a file it is code
    r"(?:write|draft|suggest|propose|generate|create|make|give|prepare)(?: \S+){0,4}? commit (?:message|msg)s?"
    r"(?: (?:for|of|about|from|with|that|based|now|please)\b.*)?"
    r"|(?:make|create|start|open) (?:a|an|another|the)(?: \w+){0,2} branch(?: (?:called|named|from|off|at)\b.*)?"
    r"|(?:switch|go|move|change)(?: back| over)? to (?:\S+ ){0,3}branch(?: (?!of\b)\S+)?"
    rf"|(?:finish|complete|conclude|continue|resume|abort|go|end) {_UNDER_WAY}(?: (?:now|please|then))?)"
)
"""What has a verb of code and is done to the repository, not to the code."""
_EVERYWHERE = regex(
    r"\b(?:everywhere|throughout|across"
    r"|(?:in|and) (?:update )?(?:all|every|the|its) (?:\w+ )?"
    r"(?:files?|tests?|usages?|users|uses|callers|code|project))\b",
    re.IGNORECASE,
)
_MAX_CHARS = 100_000
OF_DATABASES = regex(
    r"\b(?:transaction|database|db|sql\w*|rows?|insert\w*|cursor|connection|session|save[sd]?|rollback|offset|record)s?\b"
)
"""What is committed there is no change of files."""
_ORDERS = {
    "commit": regex(
        r"(?!.* to memory\b)(?:(?:also|finally|just|git) )*commit(?: (?:it|them|this|that|these|those|the|all"
        r"|everything|my|your|what|with|as|when|once|there|here|on|in|at|after|now|together|separately)\b.*| & .*)?"
        r"|(?:make|create|do) (?:a|one|the) (?:git )?commit(?: (?:for|of|with|there|then|too|afterwards)\b.*)?"
    ),
    "branch": regex(
        r"(?:.* )?(?:on|in|onto|to|make|create|start|open)(?: (?:a|an|another|its|your))?(?: own)?"
        r"(?: (?:new|separate|fresh|feature|topic|git|different))+ branch"
        r"(?: (?:called|named|from|off|first|then|there|with)\b.*)?"
        r"|(?:.* )?(?:on|in|onto|to|make|create|start|open) (?:a|the) branch (?:called|named)\b.*"
        r"|(?:make|create|start|open) a branch(?: (?:from|off)\b.*)?|(?:make|create|start|open) branch \S+"
        r"|(?:switch|change) to (?:\S+ ){0,3}branch(?: (?!of\b)\S+)?"
    ),
    "continue": regex(
        rf"(?:finish|complete|conclude|continue|resume|go|end) {_UNDER_WAY}\b"
        r"(?! (?:function|method|code|logic))(?: .*)?"
        r"|(?:also )?(?:continue|go on)|git (?:merge|rebase|cherry-pick|revert) --continue"
    ),
}


def classify(tokens: Sequence[Token], *, names_files: bool = False) -> Classification:
    """The kind of request; a code task is more certain where it names a file that exists."""
    parts = _clauses(tokens)
    said = [[token.key for token in clause] for clause, _ in parts]
    judged = [_judge(*part) for part in parts]
    if _is_refused(said, judged):
        return _UNKNOWN
    known = [item for item in judged if item.task_type != "unknown"]
    if not known and is_order(tokens):
        known = [_as("code_fix", 0.7, "its words")]
    code = [item for item in known if item.task_type in CODE_TASKS]
    if code:
        best = max(code, key=lambda item: item.confidence)
        return replace(best, confidence=min(0.95, best.confidence + 0.05)) if names_files else best
    if not known and any("Traceback (" in token.text for token in tokens if token.kind in {"fence", "paste"}):
        return Classification(task_type="code_fix", confidence=0.7, reason="a traceback was given")
    return max(known, key=lambda item: item.confidence, default=_UNKNOWN)


def _is_refused(said: Sequence[Sequence[str]], judged: Sequence[Classification]) -> bool:
    """Whether one of the clauses forbids what another one seems to order."""
    orders = False
    for clause, item in zip(said, judged, strict=True):
        code = item.task_type in CODE_TASKS
        if keeps_all(clause):
            return True
        if begins_refused(clause, orders=orders) or (code and is_refused(clause)):
            return True
        orders = orders or (code and clause[0] in _verbs(_CODE))
    return False


def asks_for_more(prompt: str) -> bool:
    """Whether a request to change code asks for something else beside it: a commit, a file, a look into the web."""
    for clause in clauses(read_prompt(prompt).tokens):
        kind = classify(clause).task_type
        if kind in {"git", "web_search"} or (kind == "file_operation" and clause[0].key not in _LOOKS):
            return True
    return False


def ordered_of_git(prompt: str) -> frozenset[str]:
    """What a request orders to be done to the repository, beside all else: `commit`, `branch`, `continue`."""
    said = [" ".join(token.key for token in clause) for clause in clauses(read_prompt(prompt).tokens)]
    of_database = OF_DATABASES.search(prompt.lower()) is not None
    orders = {name: order for name, order in _ORDERS.items() if not (of_database and name == "commit")}
    return frozenset(name for name, order in orders.items() if any(map(order.fullmatch, said)))


def means_everywhere(prompt: str) -> bool:
    """Whether a prompt says that a change is to be made wherever it applies, in tests, too."""
    return _EVERYWHERE.search(prompt[:_MAX_CHARS]) is not None


def lists_steps(prompt: str) -> bool:
    """Whether a request is a list of steps: `read a, replace x with y in b, run c and tell me what it prints`."""
    first = set()
    for clause in clauses(read_prompt(prompt).tokens):
        said = [token.key for token in clause if token.kind == "word"]
        meant = (word for word in said if word not in words("before steps") and not word.rstrip(".)").isdigit())
        first.add(next(meant, ""))
    return len(first & words("steps")) >= SEVERAL


def verbs() -> Mapping[str, TaskType]:
    """The words that requests begin with, and what kind each asks for."""
    return _verbs((*_OTHER, *_CODE))


@cache
def _verbs(kinds: tuple[TaskType, ...]) -> Mapping[str, TaskType]:
    return {word: kind for kind in kinds for word in words(kind)}


def _judge(clause: Sequence[Token], is_question: bool) -> Classification:
    said = [token.key for token in clause]
    head = said[0]
    found = _judged(clause, said)
    if found.task_type not in CODE_TASKS:
        return found
    asked = is_question and (head in words("asking") or head.startswith("¿"))
    return _UNKNOWN if asked else found


def _judged(clause: Sequence[Token], said: Sequence[str]) -> Classification:
    head = said[0]
    begins = head in _BEFORE_QUESTIONS and not _QUESTIONS.isdisjoint(said[1:2])
    if (begins and not _ASK.isdisjoint(said[2:5])) or tuple(said[-2:]) == ("since", "when"):
        return _as("explanation", 0.8, "which")  # "since which release does it fail"
    if _tells_red(said):
        return _as("code_fix", 0.7, "red")
    judged = _special(clause, said)
    if judged is not None:
        return judged
    if head in _verbs(_CODE):
        return _as(_verbs(_CODE)[head], 0.9 if len(said) > 1 else 0.6, head)
    asked = _verbs(_OTHER).get(head)
    if asked is None and _TIME.search(" ".join(said)):
        return _as("refactor", 0.7, "time")  # "get it under 1 s"
    if asked in {None, "explanation"}:
        inner = _inner(said, question=asked is not None)
        if inner is not None:
            return inner
    return _as(asked, 0.8, head) if asked is not None else _UNKNOWN


def _tells_red(said: Sequence[str]) -> bool:
    """Whether a clause tells that tests fail: "npm test is red", "pytest fails"."""
    place = next((place for place, word in enumerate(said) if word in _SUITES), len(said))
    before, rest = said[:place], list(said[place + 1 : place + 5])
    if before[:1] and before[0] in _TOOLS:
        return place == 1 and (rest[:1] == ["fails"] or (not _IS.isdisjoint(rest[:1]) and not _RED.isdisjoint(rest)))
    while rest and rest[0] in _STILL:
        del rest[0]
    endless = rest[:1] == ["never"] and not _NEVER.isdisjoint(rest[1:2])
    is_red = endless or not _ENDS.isdisjoint(rest[:1]) or (not _IS.isdisjoint(rest[:1]) and not _RED.isdisjoint(rest))
    return is_red and _BEFORE_SUITES.issuperset(before)


def _special(clause: Sequence[Token], said: Sequence[str]) -> Classification | None:
    """Verbs whose kind depends on their object."""
    head, rest = said[0], set(said[1:])
    if _GIT_DEED.fullmatch(" ".join(said)):
        return _as("git", 0.9, head)
    if (
        head in _FORBIDDING
        or said[1:2] == ["nothing"]
        or (head in _RENAMING and any(is_file_like(token.text) for token in clause[1:]))
    ):
        return _UNKNOWN
    if (rest & words("web things") and head in _WEB_VERBS) or (
        head in _READING and any("://" in word for word in rest)
    ):
        return _as("web_search", 0.9, "web")
    if head in {"make", "get", "have", "let"}:
        return _made(said, rest)
    if head in _LOOKING and rest & words("faults"):
        # Of what was changed a review is wanted, and no other program.
        return _as("explanation" if rest & (words("git things") | {"changes"}) else "code_fix", 0.6, f"{head} faults")
    if head in _SHOWING and rest & words("git things"):
        return _as("git", 0.8, head)
    if head in _SHOWING and rest & words("structure"):
        return _as("explanation", 0.8, head)
    return _on_object(clause, head) if head in _ON_OBJECTS else None


def _made(said: Sequence[str], rest: set[str]) -> Classification | None:
    """`make … pass` and `get … working` are fixes, `make a …` makes something, `make … faster` changes it."""
    if rest & words("success"):
        return _as("code_fix", 0.8, f"{said[0]} it work")
    if said[0] != "make" or len(said) < 2:
        return None
    return _as("code_generation" if said[1] in {"a", "an", "me", "new", "some"} else "refactor", 0.8, "make")


def _on_object(clause: Sequence[Token], head: str) -> Classification | None:
    """With a file itself as the object it is a file operation, with what is in a file it changes code."""
    place = next((index for index, token in enumerate(clause[1:], 1) if token.key not in _FILE_WORDS), 0)
    if not place:
        return None
    target, last = clause[place], place == len(clause) - 1
    alone = head in {"delete", "remove", "erase"} and last and target.key not in words("determiners")
    is_path = target.kind == "word" and (alone or any(char in target.text for char in "./*"))
    # `rename utils.combine to join` is about a function: no slash, no known suffix, and none after it.
    dotted = head == "rename" and "/" not in target.text and not is_file_like(target.text)
    # A new name with a dot is that of a file, unless it is one of the same object: `self.total to self.sum`.
    new = [after for before, after in pairwise(clause[place:]) if before.key == "to"] or clause[place + 1 :]
    owner = f"{target.text.rpartition('.')[0]}."
    everywhere = owner in {"self.", "this.", "cls."} or any(token.key == "everywhere" for token in clause)
    names = [token.text.removeprefix(owner) if everywhere else token.text for token in new]
    symbol = dotted and not any(char in name for name in names for char in "./")
    at_file = any("." in token.text and token.kind in {"word", "code"} for token in clause[place + 1 :])
    given = target.kind in {"quote", "code"} and at_file and head in {"write", "save", "add", "put"}
    operates = given or (is_path and not symbol and head not in {"write", "add"})
    return _as("file_operation", 0.7, head) if operates else None


def _inner(said: Sequence[str], *, question: bool) -> Classification | None:
    """A wish or complaint inside a statement, or inside a question that may be one ("could the bug be fixed")."""
    if question and tuple(said[:2]) not in _POLITE_QUESTIONS:
        return None
    not_before = words("determiners") | _NEGATED
    for before, word in zip(["", *said], said, strict=False):
        if (
            word in words("faults") and not question
        ):  # "it crashes since we added …" tells what happened, no wish to add
            break
        verb = word in _verbs(_CODE) and not word.startswith(("use", "set", "code", "program"))
        if verb and before not in not_before:
            return _as(_verbs(_CODE)[word], 0.7, word)
    return None if question else _complaint(said)


def _complaint(said: Sequence[str]) -> Classification | None:
    if any(before in _HOW and word == "slow" for before, word in pairwise(said)):
        return _as("refactor", 0.7, "slow")  # the same, but faster
    fault = next((word for word in said if word in words("faults") or word.endswith("error")), "")
    if not fault and len(said) > 3 and "too" in said[2:-1]:  # "main.py prints sums that are too small"
        fault = "too"
    if not fault and any(before in {"is", "are"} and word == "off" for before, word in pairwise(said)):
        fault = "off"
    if fault:
        return _as("code_fix", 0.7, fault)
    wish, follows = next(
        ((word, said[n + 1 : n + 3]) for n, word in enumerate(said) if word in words("wishes")), ("", ())
    )
    # "sessions should have a base address", but "that should have been 6", "it should have returned 6"
    past = (follows[:1] == ["have"] and follows[-1].endswith("ed")) or not words("participles").isdisjoint(follows)
    new = follows[:1] and follows[0] in words("abilities") and not past
    return _as("code_generation" if new else "code_fix", 0.6, wish) if wish else None


def _as(task_type: TaskType, confidence: float, word: str) -> Classification:
    kind = task_type.replace("_", " ")
    return Classification(task_type=task_type, confidence=confidence, reason=f"{kind}: {word!r}")
