"""Measure what Codur spends on tasks that the model cannot solve, against a loop that tries ten times.

    python benchmarks/escalation.py [--tasks N] [--jobs N] [--sweep] [--check]

Models of a given skill are scripted; programs, checks, prompts and the counting of tokens are real. Both sides begin
with the same task, send the same coding prompts and let each attempt start from the best one so far. The fixed loop
tries again with the failure until the check passes, ten attempts at most. Codur may stop: its rule for that is what is
measured, with offline repair off (`repair.mode: off`) and nothing else but the defaults.

A task is solvable if the fixed loop solves it. Target: on the unsolvable ones, every kind of model weighing the same,
at most a third of the fixed loop's calls and of its tokens, and no solvable task lost. Whether a model that fails in
the same way four times would be right at the fifth attempt can be told by no rule: until then it answers as one that
never is. Such kinds are listed as `no rule`: a rule that keeps them needs at least k calls where the fixed loop needs
ten, more than a third as soon as k is 4. They do not count for the target and are shown with what is lost of them.

`--sweep` repeats it for other values of `agents.preferences.patience`. `--check` makes the exit status 1 if a figure is
missed. No key, no network, no chance.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

sys.path.insert(0, str(Path(__file__).parents[1]))

from codur.config.settings import Settings
from codur.events import ignore
from codur.graph.walk import walk
from codur.llm.model import ChatReply, ChatRequest
from codur.nodes.coding import coding
from codur.nodes.llm_pre_plan import llm_pre_plan
from codur.nodes.parts.attempt_verdict import judge
from codur.nodes.policy import policy
from codur.nodes.run_state import RunContext, RunState, apply, initial_state
from codur.session.host import Host
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import Limits, Task, ToolCall
from tests.support.opened import opened
from tests.support.scripted_model import Reply, ScriptedModel

FIXED_ATTEMPTS = 10
SHARE = 1 / 3
LINES = 10
WEAK, STRONG = "gpt-oss-120b", "gpt-oss-20b"
"""Names of two profiles of the defaults; the scripted models stand in for both."""
PROMPT = "Make the program print what is expected."
LIMITS = Limits(max_iterations=FIXED_ATTEMPTS, max_llm_calls=40, max_tokens=10**7, max_cost_usd=10.0**3)

PROGRAM = '''"""{what}, for the numbers 1 to {lines}."""


def value(number):
    """Give the value for one number."""
    raise NotImplementedError


for number in range(1, {lines} + 1):
    print(number, value(number))
'''


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """A small task: what is printed, and the expression that is right."""

    what: str
    expression: str

    def files(self) -> dict[str, str]:
        right: Callable[[int], object] = eval(f"lambda number: {self.expression}")
        expected = "".join(f"{number} {right(number)}\n" for number in range(1, LINES + 1))
        return {"main.py": PROGRAM.format(what=self.what, lines=LINES), "expected.txt": expected}


PUZZLES = (
    Puzzle(what="How many handshakes a party has", expression="number * (number - 1) // 2"),
    Puzzle(what="The sum of the digits of a number's cube", expression="sum(int(digit) for digit in str(number**3))"),
    Puzzle(what="How many ones the binary form has", expression="bin(number).count('1')"),
)


# --- answers and models -----------------------------------------------------------------------------------------------

Answer = Callable[[Puzzle, int], Reply]
"""What a model answers at its n-th attempt, from 1 on."""


def edit(body: str) -> ChatReply:
    code = f'def value(number):\n    """Give the value for one number."""\n{body}'
    return ChatReply(
        tool_calls=(ToolCall(name="replace_function", arguments={"path": "main.py", "name": "value", "code": code}),)
    )


def right(puzzle: Puzzle, _: int) -> Reply:
    return edit(f"    return {puzzle.expression}\n")


def same_failure(_: Puzzle, attempt: int) -> Reply:
    """Another change each time, and the same wrong output."""
    return edit(f"    offset = {attempt}\n    return offset - {attempt} - 1\n")


def new_failure(_: Puzzle, attempt: int) -> Reply:
    """Another wrong output each time, none of them further than the others."""
    return edit(f"    return -{attempt}\n")


def same_edit(_: Puzzle, __: int) -> Reply:
    return edit("    return -1\n")


def back_and_forth(_: Puzzle, attempt: int) -> Reply:
    return edit(f"    return -{1 + attempt % 2}\n")


def no_edit(_: Puzzle, __: int) -> Reply:
    return "The program looks right to me; the expected output must be wrong."


def further(puzzle: Puzzle, attempt: int) -> Reply:
    """One more line right at each attempt."""
    return edit(f"    if number > {attempt}:\n        return -1\n    return {puzzle.expression}\n")


def stuck(puzzle: Puzzle, attempt: int) -> Reply:
    """Half of it right at once, and never more."""
    return edit(f"    if number > 5:\n        return -{attempt}\n    return {puzzle.expression}\n")


def at(k: int, wrong: Answer) -> Answer:
    """Right at the k-th attempt."""
    return lambda puzzle, attempt: right(puzzle, attempt) if attempt >= k else wrong(puzzle, attempt)


@dataclass(frozen=True, kw_only=True)
class Skill:
    """A kind of model.

    Attributes:
        needs_failure: it is right only if the request holds the failing output.
        stronger: there is a stronger model to hand over to, which is right at once.
        telling: until it is right, it answers unlike a model that never is, or the rule can afford to wait.
    """

    name: str
    answer: Answer
    needs_failure: bool = False
    stronger: bool = False
    telling: bool = True


SKILLS = (
    Skill(name="never right, same failure", answer=same_failure),
    Skill(name="never right, new failures", answer=new_failure),
    Skill(name="never right, back and forth", answer=back_and_forth),
    Skill(name="never right, the same edit", answer=same_edit),
    Skill(name="never right, no edit", answer=no_edit),
    Skill(name="half right, then stuck", answer=stuck),
    Skill(name="right at 1", answer=right),
    Skill(name="right once it sees the failure", answer=same_failure, needs_failure=True),
    *(
        Skill(name=f"right at {k}, {how}", answer=at(k, wrong), telling=k <= until)
        for k in (2, 3, 4, 5)
        for how, wrong, until in (
            ("same failure", same_failure, 3),
            ("new failures", new_failure, 4),
            ("the same edit", same_edit, 3),
            ("no edit", no_edit, 3),
        )
        if k <= 3 or wrong in (same_failure, new_failure)
    ),
    Skill(name="right at 5, further each time", answer=at(5, further)),
    Skill(name="right at 9, further each time", answer=at(9, further)),
    Skill(name="never right, a stronger one is", answer=same_failure, stronger=True),
)


class Model(ScriptedModel):
    """Answers coding requests with its skill; there is nothing else to answer."""

    def __init__(self, puzzle: Puzzle, skill: Skill) -> None:
        self._puzzle, self._skill, self._attempts = puzzle, skill, 0
        super().__init__(self._reply)

    def _reply(self, request: ChatRequest) -> Reply:
        if request.purpose != "coding":
            raise AssertionError(f"nobody was to ask for a {request.purpose}")
        self._attempts += 1
        if self._skill.needs_failure and "Earlier attempts" in request.messages[-1].content:
            return right(self._puzzle, self._attempts)
        return self._skill.answer(self._puzzle, self._attempts)


# --- the two sides ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What one side came to on some tasks."""

    solved: int = 0
    calls: int = 0
    tokens: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            solved=self.solved + other.solved, calls=self.calls + other.calls, tokens=self.tokens + other.tokens
        )


def settings_for(skill: Skill, patience: int | None) -> Settings:
    settings = Settings()
    preferences = settings.agents.preferences
    if skill.stronger:
        preferences = structs.replace(preferences, escalation=(f"llm:{STRONG}",))
    if patience is not None:
        preferences = structs.replace(preferences, patience=patience)
    return structs.replace(
        settings,
        agents=structs.replace(settings.agents, preferences=preferences),
        repair=structs.replace(settings.repair, mode="off"),
    )


def host_for(puzzle: Puzzle, skill: Skill, cache: Path) -> Host:
    strongest = Skill(name="right at 1", answer=right)
    models = {WEAK: Model(puzzle, skill), STRONG: Model(puzzle, strongest if skill.stronger else skill)}
    return Host(environ={"PATH": os.environ["PATH"]}, home=Path("/nonexistent"), models=models, cache=cache)


def task_in(directory: Path, puzzle: Puzzle) -> Task:
    for name, text in puzzle.files().items():
        (directory / name).write_text(text, encoding="utf-8")
    return Task(prompt=PROMPT, workspace=str(directory), limits=LIMITS, check_is_goal=True)


def with_codur(puzzle: Puzzle, skill: Skill, patience: int | None, cache: Path) -> Spent:
    with tempfile.TemporaryDirectory() as place:
        task = task_in(Path(place), puzzle)
        result = run_task(task, settings_for(skill, patience), host=host_for(puzzle, skill, cache), emit=ignore)
    return Spent(solved=result.outcome == "done", calls=result.model_calls, tokens=result.usage.total_tokens)


def with_fixed_loop(puzzle: Puzzle, skill: Skill, cache: Path) -> Spent:
    with tempfile.TemporaryDirectory() as place:
        task = task_in(Path(place), puzzle)
        with opened(task, settings_for(skill, None), host=host_for(puzzle, skill, cache), emit=ignore) as context:
            solved = asyncio.run(_tried_ten_times(task, context))
            usage = context.models.usage
    return Spent(solved=solved, calls=usage.calls, tokens=usage.total_tokens)


async def _tried_ten_times(task: Task, context: RunContext) -> bool:
    state = walk(initial_state(task), context).state
    state = apply(state, await llm_pre_plan(state, context))
    state = apply(state, policy(state, context))
    while state["iteration"] < FIXED_ATTEMPTS:
        state = apply(state, await coding(state, context))
        judged = judge(state["records"][-1], state, context)
        if judged.attempt is None:
            return judged.verdict is not None and judged.verdict.passed
        state = _again(state, attempts=[judged.attempt], verdict=judged.verdict)
    return False


def _again(state: RunState, **update: object) -> RunState:
    return apply(state, {"iteration": 1, **update})  # type: ignore[typeddict-item]


# --- figures ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Row:
    """Both sides with one kind of model, over all tasks."""

    skill: Skill
    fixed: Spent
    codur: Spent

    @property
    def unsolvable(self) -> bool:
        return not self.fixed.solved and not self.skill.stronger

    @property
    def lost(self) -> int:
        return max(0, self.fixed.solved - self.codur.solved)


class Sides:
    """Carries out runs, some at a time: they wait for programs most of the while.

    Args:
        cache: a directory for what runs find out about the machine.
    """

    def __init__(self, puzzles: Sequence[Puzzle], cache: Path, pool: ThreadPoolExecutor) -> None:
        self._puzzles, self._cache, self._pool = puzzles, cache, pool

    def fixed(self, skill: Skill) -> list[Future[Spent]]:
        return [self._pool.submit(with_fixed_loop, puzzle, skill, self._cache) for puzzle in self._puzzles]

    def codur(self, skill: Skill, patience: int | None = None) -> list[Future[Spent]]:
        return [self._pool.submit(with_codur, puzzle, skill, patience, self._cache) for puzzle in self._puzzles]


def total(runs: Sequence[Future[Spent]]) -> Spent:
    return sum((run.result() for run in runs), Spent())


def rows(sides: Sides, skills: Sequence[Skill] = SKILLS) -> Iterator[Row]:
    begun = [(skill, sides.fixed(skill), sides.codur(skill)) for skill in skills]
    for skill, fixed, codur in begun:
        yield Row(skill=skill, fixed=total(fixed), codur=total(codur))


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What counts: shares of the fixed loop's spending, and tasks that it solves and Codur does not."""

    calls: float
    tokens: float
    lost: int
    lost_no_rule: int

    @property
    def reached(self) -> bool:
        return self.calls <= SHARE and self.tokens <= SHARE and not self.lost


def figures(found: Sequence[Row]) -> Figures:
    hopeless = [row for row in found if row.unsolvable]
    fixed = sum((row.fixed for row in hopeless), Spent())
    codur = sum((row.codur for row in hopeless), Spent())
    return Figures(
        calls=codur.calls / fixed.calls,
        tokens=codur.tokens / fixed.tokens,
        lost=sum(row.lost for row in found if row.skill.telling),
        lost_no_rule=sum(row.lost for row in found if not row.skill.telling),
    )


def shown(row: Row, tasks: int) -> str:
    def side(spent: Spent) -> str:
        return f"{spent.solved}/{tasks}  {spent.calls / tasks:5.1f} {spent.tokens / tasks:7.0f}"

    kind = "unsolvable" if row.unsolvable else "no rule" if not row.skill.telling else ""
    share = f"{row.codur.calls / row.fixed.calls:5.0%} {row.codur.tokens / row.fixed.tokens:5.0%}"
    lost = f"  {row.lost} lost" if row.lost else ""
    return f"{row.skill.name:34}{side(row.fixed)}   {side(row.codur)}   {share}  {kind}{lost}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=2, choices=range(1, len(PUZZLES) + 1), metavar="N")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="runs at the same time")
    parser.add_argument("--sweep", action="store_true", help="also with other patience")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a figure is missed")
    given = parser.parse_args()
    puzzles = PUZZLES[: given.tasks]
    print(f"{'':34}{'fixed loop':>21}   {'codur':>18}   share of it")
    print(f"{'model':34}{'solved calls  tokens':>18}   solved calls tokens   calls tokens")
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(given.jobs) as pool:
        return report(Sides(puzzles, Path(cache), pool), len(puzzles), given)


def report(sides: Sides, tasks: int, given: argparse.Namespace) -> int:
    found = []
    for row in rows(sides):
        found.append(row)
        print(shown(row, tasks), flush=True)
    told = figures(found)
    print(f"\nunsolvable tasks: {told.calls:.1%} of the fixed loop's calls, {told.tokens:.1%} of its tokens")
    print(f"solvable tasks lost: {told.lost}")
    print(
        f"lost where no rule can both wait and save (right at 4 or 5 after failures that tell nothing): "
        f"{told.lost_no_rule}"
    )
    print(f"target (calls and tokens at most {SHARE:.1%}, none lost): {'reached' if told.reached else 'MISSED'}")
    if given.sweep:
        swept(sides, found)
    return 1 if given.check and not told.reached else 0


def swept(sides: Sides, fixed: Sequence[Row]) -> None:
    print(f"\n{'patience':>8} {'calls':>7} {'tokens':>7} {'lost':>5} {'lost, no rule':>14}")
    for patience in (1, 2, 3, 4, 5):
        begun = [(row, sides.codur(row.skill, patience)) for row in fixed]
        found = [replace(row, codur=total(runs)) for row, runs in begun]
        told = figures(found)
        print(f"{patience:8} {told.calls:7.1%} {told.tokens:7.1%} {told.lost:5} {told.lost_no_rule:14}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
