"""Events in words: the lines that stay, and the one line that says what is going on."""

import textwrap

from codur import events
from codur.events import Event
from codur.types import Verdict
from codur.ui.sanitise import Shown, sanitise
from codur.ui.shown.diffs import diff_lines
from codur.ui.shown.plans import test_lines
from codur.ui.shown.run_report import money
from codur.ui.shown.verdicts import check_line
from codur.ui.styled_lines import Line, block, clip, count, line, percent

NODE_WORDS = {
    "pattern_plan": "reading the request",
    "llm_pre_plan": "classifying the request",
    "llm_plan": "planning",
    "policy": "looking over the plan",
    "make_check": "making a check",
    "consult": "asking you",
    "repair": "searching for a repair",
    "choose": "choosing among repairs",
    "coding": "writing the change",
    "tool": "using a tool",
    "delegate": "choosing an agent",
    "execute": "letting an agent work",
    "review": "running the check",
    "accept": "judging what the plan says must hold",
}
WORDS_LINES = 8
_NEW, _GONE = "--- /dev/null\n", "\n+++ /dev/null"
_DIFF_LINES = 10
_STEPS_LINES = 7
_ONE_LINE = 100
_WORDS_KEPT = 4000
QUICK_NODES = frozenset({"pattern_plan", "policy"})
"""Nodes that end before a person could read a status."""


class Narrator:
    """Turns the events of a run into the lines that stay on the screen.

    Args:
        verbose: also routes, model requests and tools.
        works: also the tools that a model calls and what an agent says, one line each.
        model: also which model is asked; a conversation has told it at its beginning.
    """

    def __init__(self, *, verbose: bool, works: bool = False, model: bool = True) -> None:
        self._verbose = verbose
        self._works = works
        self._model = model
        self._by_rule = True
        self._attempts = 0
        self._before: Verdict | None = None
        self._made = False
        self._search: events.RepairProgress | None = None
        self._told: set[str] = set()
        self._checked: Line | None = None

    @property
    def told(self) -> frozenset[str]:
        """The notes that have been shown."""
        return frozenset(self._told)

    def lines(self, event: Event) -> list[Line]:
        """Give the lines for `event`. A search is told once, when it is over."""
        if isinstance(event, events.RepairProgress):
            self._search = event
            return []
        return [*self.rest(), *self._lines(event)]

    def rest(self) -> list[Line]:
        """Give the line of a search that has not been told yet."""
        search, self._search = self._search, None
        if search is None:
            return []
        return [line(("offline repair: ", "dim"), _search_words(search))]

    def _lines(self, event: Event) -> list[Line]:
        self._made |= isinstance(event, events.TestMade) or (
            isinstance(event, events.Asked) and event.question.check is not None
        )
        match event:
            case events.CheckRan():
                # That nothing can be checked is told once, at the end.
                untold = event.verdict.status == "no_check" and not self._verbose
                seen, self._checked = self._checked, self._check(event)
                again = event.when != "attempt" and self._checked == seen
                return [] if untold or again else [self._checked]
            case events.ModelChosen() if event.profile:
                chosen = f"model: {event.profile} ({event.model}): {event.reason}"
                self._told.add(chosen)
                return [line((chosen, "dim"))] if self._model else []
            case events.ModelWaiting() | events.ModelSwitched():
                return [line((_delay(event), "warn"), event.reason)]
            case events.ModelPrompted():
                return prompt_lines(event)
            case events.FileChanged():
                head = event.diff.partition("\n@@")[0]
                done = "created" if _NEW in head else "deleted" if head.endswith(_GONE) else "changed"
                changed = line((f"{done}: ", "dim"), f"{event.path} (+{event.added} -{event.removed})")
                return [changed, *(diff_lines(event.diff) if self._verbose else ())]
            case events.Guided():
                return [line(("told the model: ", "dim"), event.text)]
            case events.TestMade():
                return test_lines(event.path, event.text if self._verbose else "", event.failure)
            case events.Note():
                self._told.add(event.text)
                return [line(("warning: " if event.level == "warning" else "note: ", "warn"), event.text)]
            case events.RunStarted():
                self._attempts, self._before, self._made, self._checked = 0, None, False, None
        detail = _detail(event) if self._verbose else self._work(event)
        return [line((detail, "dim"))] if detail else []

    def _work(self, event: Event) -> str:
        """What a model or another program does, cut to a line; empty for the one step of a rule."""
        if isinstance(event, events.Decided):
            self._by_rule = event.origin == "pattern"
        shown = self._works and not self._by_rule and isinstance(event, (events.ToolRan, events.AgentMessage))
        return clip(_detail(event), width=_ONE_LINE) if shown else ""

    def _check(self, event: events.CheckRan) -> Line:
        if event.when != "attempt":
            self._before = event.verdict
            return check_line(f"{event.when}, with the new test" if self._made else event.when, event.verdict)
        self._attempts = event.number or self._attempts + 1
        return check_line(f"attempt {self._attempts}", event.verdict, self._before)


def prompt_lines(event: events.ModelPrompted) -> list[Line]:
    """A request as it was sent."""
    head = line((f"request to {event.profile} ({event.model}), {event.purpose}:", "strong"))
    return [head, *block(event.text, prefix="  ")]


def _delay(event: events.ModelWaiting | events.ModelSwitched) -> str:
    if isinstance(event, events.ModelWaiting):
        return f"{_wait(event)}: "
    return f"switched model: {event.from_profile} → {event.to_profile}: "


def _wait(event: events.ModelWaiting) -> str:
    seconds = f"{event.seconds:.0f}"
    return f"asking {event.profile} again" if seconds == "0" else f"waiting {seconds} s for {event.profile}"


def _detail(event: Event) -> str:
    match event:
        case events.RunStarted():
            return f"task: {clip(event.prompt)} (in {event.workspace}, sandbox: {event.sandbox})"
        case events.Decided():
            reason = f": {event.reason}" if event.reason else ""
            return f"route: {event.node} → {event.route} ({event.origin}, {event.tier}){reason}"
        case events.ModelChosen():
            return f"no model: {event.reason}"
        case events.ModelCalled():
            size = count(event.prompt_chars, "character")
            return f"model: {event.profile} ({event.model}), {event.purpose}, {size}"
        case events.ModelAnswered():
            tokens = f"{event.prompt_tokens:,} + {event.completion_tokens:,} tokens"
            return f"answer: {event.profile}, {event.purpose}, {tokens}, {event.duration_s:.1f} s"
        case events.ToolChosen():
            after = f" after {event.after}" if event.after else ""
            tokens = f", {event.tokens:,} tokens" if event.tokens else ""
            choice = f"{event.tier}, {count(len(event.candidates), 'candidate')}{tokens}, {event.duration_s:.1f} s"
            return f"next tool: {event.choice or 'left open'}{after} ({choice})"
        case events.ToolRan():
            summary = f": {clip(event.summary)}" if event.summary else ""
            return f"tool: {event.tool}: {event.code}{summary}"
        case events.AgentMessage():
            return f"{event.agent}: {event.text}"
        case _:
            return ""


def _search_words(search: events.RepairProgress) -> str:
    tried = f"{count(search.tried, 'candidate')} tried"
    if search.passing:  # what is taken of these is told with the repair
        return f"{tried}, {search.passing:,} passed"
    place = f", at {search.best_place}" if search.best_place else ""
    return f"{tried}, the best reaches {percent(search.best)} of the check{place}"


def _passing_words(number: int) -> str:
    if number == 1:
        return "1 fix passes so far; looking for others"
    return f"{number:,} fixes pass so far; comparing them"


class Status:
    """What is going on at this moment: the plan, what comes in, what changed, and one line."""

    def __init__(self) -> None:
        self.phase = "starting"  # what is going on, in a few words
        self._tier = ""
        self._calls = self._tokens = 0
        self._cost = 0.0
        self._words = self._diff = ""
        self._plan: events.StepBegan | None = None
        self._check = ""

    def see(self, event: Event) -> None:
        """Take note of `event`."""
        match event:
            case events.AnswerDelta():
                self._words = (self._words + event.text)[-_WORDS_KEPT:]
            case events.ModelCalled() | events.NodeEntered():
                self._words = ""
            case events.ModelAnswered():
                self._calls += 1
                self._tokens += event.prompt_tokens + event.completion_tokens
                self._cost += event.cost_usd
            case events.Decided():
                self._tier = "" if event.tier == "deterministic" else event.tier
            case events.StepBegan():
                self._plan = event
            case events.FileChanged():
                self._diff = event.diff
            case events.CheckBegan() if not self._check.startswith(named := f"`{clip(event.check, width=60)}`"):
                self._check = named
            case events.CheckRan():
                self._check, self._diff = _check_words(event), ""
        self.phase = self._phase_of(event)

    def text(self, seconds: float) -> Shown:
        """Give the line: the phase, how much is left to a model, the time since the start, and what models cost."""
        parts = [self.phase, *([self._tier] if self._tier else []), f"{seconds:.0f} s", count(self._calls, "call")]
        if self._tokens:
            parts += [count(self._tokens, "token"), money(self._cost)]
        return sanitise(" · ".join(parts), keep_newlines=False)

    def words(self, width: int) -> list[Shown]:
        """Give the last lines of an answer that is coming, none wider than `width` columns; nothing if none is."""
        if not self._words:
            return []
        rows = [
            row
            for text in sanitise(self._words).splitlines()
            for row in textwrap.wrap(text, max(width, 1), drop_whitespace=False) or [""]
        ]
        return [Shown(row) for row in rows[-WORDS_LINES:]]

    def above(self, width: int) -> list[Line]:
        """Give what stands above the line: the plan, the words that come in, else the last change."""
        words = [line(row) for row in self.words(width)]
        change = [] if words else [item for item in diff_lines(self._diff) if item.text[:4] not in ("--- ", "+++ ")]
        return [*self._steps(), *words, *change[:_DIFF_LINES]]

    def _steps(self) -> list[Line]:
        """The plan as a list of what is done, what is done now, and what is left."""
        if self._plan is None:
            return []
        first = max(0, min(self._plan.number - _STEPS_LINES // 2 - 1, len(self._plan.steps) - _STEPS_LINES))
        rows = list(enumerate(self._plan.steps, start=1))[first : first + _STEPS_LINES]
        return [_step_line(number, what, self._plan.number) for number, what in rows]

    def _phase_of(self, event: Event) -> str:
        match event:
            case events.CheckBegan() | events.NodeEntered(node="review"):
                return f"running {self._check}" if self._check else NODE_WORDS["review"]
            case events.NodeEntered():
                return NODE_WORDS.get(event.node, event.node)
            case events.ModelCalled():
                return f"asking {event.profile} ({event.purpose})"
            case events.AnswerDelta():
                return f"{event.profile} answers"
            case events.ModelAnswered():
                return "reading the answer"
            case events.ModelWaiting():
                return _wait(event)
            case events.RepairProgress():
                if event.passing:
                    return _passing_words(event.passing)
                place = f", at {event.place}" if event.place else ""
                return f"searching for a repair ({event.tried:,} tried, best {percent(event.best)}{place})"
            case events.RunFinished():
                return "finishing"
            case _:
                return self.phase


def _step_line(number: int, what: str, now: int) -> Line:
    if number < now:
        return line(("✔ ", "good"), (f"{number} {what}", "dim"))
    return line(("▸ ", "strong"), f"{number} {what}") if number == now else line((f"  {number} {what}", "dim"))


def _check_words(event: events.CheckRan) -> str:
    """The check, and how many of its tests passed when it was last run."""
    verdict = event.verdict
    told = f"`{clip(verdict.check, width=60)}`" if verdict.check else "the check"
    if verdict.tests_total is None:
        return told
    return f"{told} ({verdict.tests_passed or 0} of {verdict.tests_total} passed)"
