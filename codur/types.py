"""The values that travel through Codur: immutable, serialisable, without I/O.

They are structs. What comes from outside (settings, model replies, plan files) is checked where it enters, against
`msgspec` structs with these same types.

`Task` (what is asked) → `Plan` (ordered `Step`s) → `StepRecord`s (what was done) → `Verdict` (what the check said)
→ `RunResult` (what the user gets). Texts that can grow are bounded where they are made; whole files and tool outputs
are kept outside, under a content hash (`output_ref`).
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from msgspec import to_builtins
from msgspec.structs import astuple

from codur.patches import RepairReport, RepairRequest
from codur.structs import Struct, field, names, replace

TaskType = Literal[
    "greeting",
    "file_operation",
    "search",
    "git",
    "explanation",
    "web_search",
    "code_fix",
    "code_generation",
    "refactor",
    "run",
    "unknown",
]
CODE_TASKS: frozenset[TaskType] = frozenset({"code_fix", "code_generation", "refactor"})

LOOKING_TASKS: frozenset[TaskType] = frozenset({"greeting", "search", "explanation", "web_search"})
"""Tasks that change nothing."""

Origin = Literal["pattern", "pre_plan", "plan", "retry", "repair", "llm_error", "user"]
"""Who took a decision."""

Tier = Literal["deterministic", "guided", "open"]
"""How much was left to a model: nothing, a choice among a few, or everything."""

Action = Literal["tool", "coding", "delegate", "repair", "respond", "ask"]

Outcome = Literal["done", "not_achieved", "usage", "no_model", "limit", "refused", "interrupted"]
EXIT_CODES: dict[Outcome, int] = {
    "done": 0,
    "not_achieved": 1,
    "usage": 2,
    "no_model": 3,
    "limit": 4,
    "refused": 5,
    "interrupted": 130,
}

SideEffect = Literal["read", "write", "run", "network"]

ToolCode = Literal[
    "ok",
    "not_found",
    "not_a_file",
    "binary",
    "too_large",
    "refused",
    "no_match",
    "many_matches",
    "invalid",
    "syntax_error",
    "failed",
    "timeout",
]
"""The closed set of outcomes of a tool call; everything but `ok` changed nothing."""


# --- the task ---------------------------------------------------------------------------------------------------------


class Limits(Struct):
    """Hard limits of one run; 0 means that nothing of it is allowed."""

    max_iterations: int = 10
    max_llm_calls: int = 20
    max_tokens: int = 200_000
    max_cost_usd: float = 1.0
    max_runtime_s: float = 900.0

    @property
    def longest_s(self) -> float:
        """Seconds after which a run that does not keep to its time is ended by force."""
        return 1.1 * self.max_runtime_s + 1.0


class ScopeRules(Struct):
    """Which files may change.

    Attributes:
        allow: globs of the files that may; empty allows all.
        deny: globs of files that may not, whatever `allow` says.
        max_files: how many files may change altogether; 0 is no bound.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    max_files: int = 0


CheckKind = Literal["command", "output", "tests", "kept_output", "syntax"]


VARIES = "(differs from run to run)"
"""Stands in an output for a line that does."""


class ProgramRun(Struct):
    """What a program did in a copy of the workspace.

    Attributes:
        stdin_file: workspace-relative file that it was given on standard input.
        output, written: what it printed, paths of the files that it wrote and their texts; lines that differ from run
            to run are marked. Of a long file, or of one that is no text, `sha256:…`.
    """

    argv: tuple[str, ...]
    stdin_file: str | None = None
    output: str = ""
    written: tuple[tuple[str, str], ...] = ()
    duration_s: float = 0.0


class Check(Struct):
    """How a run's result is judged.

    Attributes:
        kind: a command's exit status, a program's output, a test run, what programs print and write
            now, or (nothing better found) syntax and import.
        argv: what is run; the item `{python}` stands for the interpreter chosen for the workspace.
        entry: the program's workspace-relative path for `output` and `syntax`; None otherwise.
        stdin_file: workspace-relative file given on standard input.
        expected_file: workspace-relative or absolute file with the expected output.
        expected_text: expected output stated in the prompt (used when there is no file).
        protected: workspace-relative files that define the check and must not be edited.
        tests: node ids of the tests that run, as pytest names them, or files of which all do; empty for all that
            `argv` stands for.
        env: variables that the command sets for its programs.
        timeout_s: wall time of one run, in seconds.
        source: one line: why this check was chosen.
        text: of a test that was made for the task: the content of its file `entry`, which is there only while it runs.
        suite: what runs all tests that were found, of which fewer may be run where they take too long; empty if no
            more are known than `argv` runs.
        sample_s: seconds of tests after which a run that would take far longer than `timeout_s` ends; 0 for none.
        beside: the project's own check, which must pass, too.
        of_linter: whether it is that a linter, formatter or type checker finds nothing.
        left_out: node ids of tests that failed before a test was made, and may go on to.
        may_differ: of `kept_output`: that they print something else is told, and is no failure.
        runs: what the programs of `kept_output` did before anything was changed.
        within_s: of `kept_output`: seconds that each may take and no more; 0 if nobody said so.
        parses: files of data that have to parse, whatever else is checked.
        ran_without: of a made test of another runner than pytest: how many of the project's own passed before.
    """

    kind: CheckKind
    argv: tuple[str, ...]
    entry: str | None = None
    stdin_file: str | None = None
    expected_file: str | None = None
    expected_text: str | None = None
    protected: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    timeout_s: float = 10.0
    source: str
    text: str = ""
    suite: tuple[str, ...] = ()
    sample_s: float = 0.0
    beside: Check | None = None
    of_linter: bool = False
    left_out: tuple[str, ...] = ()
    parses: tuple[str, ...] = ()
    ran_without: int = 0
    runs: tuple[ProgramRun, ...] = ()
    may_differ: bool = False
    within_s: float = 0.0

    @property
    def whole(self) -> bool:
        """Whether it runs all tests that were found, and may run fewer."""
        return bool(self.suite) and self.argv == self.suite

    def without(self, paths: Collection[str]) -> Check:
        """The check with these no longer among its files, nor among those of the one beside it."""
        beside = self.beside.without(paths) if self.beside else None
        return replace(self, protected=tuple(path for path in self.protected if path not in paths), beside=beside)

    @property
    def is_among(self) -> bool:
        """Whether a test that was made runs with the project's own, and not alone."""
        return self.beside is not None and self.beside.argv == self.argv

    @property
    def label(self) -> str:
        """The command as a person would type it, with `< input` where a file is given on standard input."""
        if self.beside is not None and not self.is_among:
            return f"{replace(self, beside=None).label} && {self.beside.label}"
        if len(self.runs) > 1:
            return " && ".join(
                replace(self, argv=run.argv, stdin_file=run.stdin_file, runs=()).label for run in self.runs
            )
        if self.kind == "syntax" and self.parses:
            words = f"syntax of {', '.join(self.parses)}"
        elif self.argv[:2] == ("sh", "-c"):
            words = self.argv[2]
        else:
            variables = "".join(f"{name}={shlex.quote(value)} " for name, value in self.env)
            words = variables + shlex.join("python" if item == "{python}" else item for item in self.argv)
        return f"{words} < {self.stdin_file}" if self.stdin_file else words


class Task(Struct):
    """One request: the prompt, where it applies and the limits.

    Attributes:
        check_is_goal: the task is to make the check pass, whatever the prompt sounds like (a challenge, `--check`).
        wait: wait until no other run works in the workspace, rather than refuse.
        repair: the task is to search for a repair without a model, and nothing else.
        plan: carry out this plan, rather than make one.
        plan_only: make a plan and carry out nothing of it.
        show_plan: ask the user before the plan is carried out, whatever the settings say.
        approved: the user has approved of any plan beforehand.
        keep_test: a test that is made for the task stays in the workspace if the task is done.
        may_edit_tests: the tests that judge it may be changed, without being asked about.
        scope: which files may change; None: as the settings say.
        hint: what the user thinks is wrong; an offline search tries it first.
        given: text that goes with the prompt, and that no rule reads: what was piped in.
        earlier: what models are told of earlier tasks of the same conversation.
        places: files, or lines of them as `path:line`, that models are shown: what these tasks changed last, and what
            the user added.
        made: files that these tasks made; those that are tests may be changed.
    """

    prompt: str
    workspace: str
    limits: Limits = Limits()
    check_is_goal: bool = False
    check_command: str | None = None
    expect_file: str | None = None
    agent: str | None = None
    offline: bool = False
    keep: bool = False
    dry_run: bool = False
    wait: bool = False
    repair: RepairRequest | None = None
    plan: Plan | None = None
    plan_only: bool = False
    show_plan: bool = False
    approved: bool = False
    keep_test: bool = False
    may_edit_tests: bool = False
    scope: ScopeRules | None = None
    hint: str = ""
    given: str = ""
    earlier: str = ""
    places: tuple[str, ...] = ()
    made: tuple[str, ...] = ()

    def said_with(self, since: Sequence[str] = ()) -> str:
        """The prompt, what the user said since it was given, and what was piped in, which may be long."""
        lines = "\n".join(f"- {text}" for text in since)
        said = f"\n\nSaid while this was worked on, and holds:\n{lines}" if since else ""
        given = f"\n\nOn standard input:\n```\n{self.given}\n```" if self.given else ""
        return f"{self.prompt}{said}{given}"


# --- what Phase 0 finds out -------------------------------------------------------------------------------------------


class Discovery(Struct):
    """What is known about the task without a model (and, later, what the classification added).

    Attributes:
        task_type: the kind of request.
        confidence: 0 to 1.
        files: workspace-relative paths that the prompt names or the check needs, most relevant first.
        guessed: those of `files` that only the classification named.
        missing_files: names in the prompt that look like files and do not exist.
        entry: the program that would be run, or None.
        check: the check that applies, or None.
        edits_tests: tests of the check that the task changes although it does not name them.
        adds_tests: tests of the check to which the task adds; what stands in them still decides.
        rest_may_fail: an agent says that what failed before is not about the task, or cannot pass here.
        explain: the file whose explanation is all that is asked for; empty if something else or more is.
        reason: one line: which rule decided.
        sentence: what the classification said of the task; empty if nobody was asked.
    """

    task_type: TaskType = "unknown"
    confidence: float = 0.0
    files: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    missing_files: tuple[str, ...] = ()
    entry: str | None = None
    check: Check | None = None
    edits_tests: tuple[str, ...] = ()
    adds_tests: tuple[str, ...] = ()
    rest_may_fail: bool = False
    explain: str = ""
    reason: str = ""
    sentence: str = ""


# --- plans ------------------------------------------------------------------------------------------------------------


class Step(Struct):
    """One step of a plan.

    Attributes:
        id: the key under which later steps refer to this step's output.
        action: which node carries it out.
        capability: the tool's or agent's name; empty for `respond`, `ask` and `repair`.
        objective: what the step is for, in a sentence.
        inputs: ids of earlier steps whose output it needs.
        arguments: arguments of the tool; for `respond` and `ask`, `text`; for `coding`, `path` if one is settled.
        decide: `guided`: the tool is chosen when the step is reached, by what the step before gave; `capability` is
            empty till then.
        decision_prompt, max_candidates, min_compatibility, fallback_tool: how, where it differs from the settings'
            `tools:`; empty and below 0 stand for these.
        place: file and line, if it was read from a file: `plan.yaml:7`.
    """

    id: str
    action: Action
    capability: str = ""
    objective: str = ""
    expected_output: str = ""
    success_criteria: str = ""
    inputs: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tier: Tier = "deterministic"
    decide: Literal["", "guided"] = ""
    decision_prompt: str = ""
    max_candidates: int = -1
    min_compatibility: float = -1.0
    fallback_tool: str = ""
    place: str = ""

    def __eq__(self, other: object) -> bool:
        """Where it was read from makes no other step of it."""
        return isinstance(other, Step) and astuple(self)[:-1] == astuple(other)[:-1]

    def __ne__(self, other: object) -> bool:
        return not self == other

    @property
    def undecided(self) -> bool:
        """Whether its tool is still to be chosen."""
        return self.decide == "guided" and self.action == "tool" and not self.capability


class Plan(Struct):
    """Ordered steps, and who made them. A single decision is a plan of one step.

    Attributes:
        outcome: how the run ends if the plan is a last word (a `respond` or `ask` step); else ignored.
        asks: the user is asked before it is carried out, whatever the settings say.
    """

    steps: tuple[Step, ...]
    origin: Origin
    reason: str = ""
    confidence: float = 1.0
    outcome: Outcome = "done"
    asks: bool = False


class StepRecord(Struct):
    """What one step did.

    Attributes:
        held: its change passed the check in a copy, and that pass was confirmed there.
        others: what other answers to the same request came to, as text for the next attempt.
        said: what a model said beside its edits, bounded.
    """

    step_id: str
    node: str
    action: Action
    capability: str = ""
    origin: Origin
    tier: Tier
    code: ToolCode = "ok"
    summary: str = ""
    output_ref: str = ""
    changed_files: tuple[str, ...] = ()
    error: str = ""
    held: bool = False
    others: str = ""
    said: str = ""

    @property
    def ok(self) -> bool:
        return self.code == "ok"


# --- verdicts ---------------------------------------------------------------------------------------------------------

VerdictStatus = Literal["passed", "failed", "no_check", "flaky", "tampered"]


class Difference(Struct):
    """The first line (1-based) at which the output differs; a missing line is None."""

    line: int
    expected: str | None
    actual: str | None


class Verdict(Struct):
    """What a check said.

    Attributes:
        check: what was run, as a person would type it.
        exit_status: the program's exit status; None if it was killed.
        expected, actual, error: bounded texts (the error is a traceback's tail or the failing tests).
        signature: the failure without what varies (paths, addresses, times); equal failures have equal signatures.
        failing: node ids of the tests that failed, in the order of the run; empty if they are not known one by one.
        excused: those that cannot pass in the sandbox, whatever the program does; they are left out of the verdict.
        unfit: why it says nothing of the program, if all that failed did so outside of the workspace.
        progress: 0 to 1: share of tests that pass, or of output lines that match from the start.
        note: one line for the user, e.g. why it is flaky or tampered.
        by_new_tests: of a pass: tests that came with the change fail without it.
        sandbox: the back end that contained the program: `none` in this version.
    """

    status: VerdictStatus
    check: str = ""
    exit_status: int | None = None
    timed_out: bool = False
    difference: Difference | None = None
    expected: str = ""
    actual: str = ""
    error: str = ""
    signature: str = ""
    progress: float = 0.0
    tests_passed: int | None = None
    tests_total: int | None = None
    failing: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    unfit: str = ""
    note: str = ""
    by_new_tests: bool = False
    sandbox: str = "none"
    duration_s: float = 0.0

    @property
    def passed(self) -> bool:
        return self.status == "passed"


class Attempt(Struct):
    """One try at the task, as later tries and the report see it.

    Attributes:
        edit: names what it changed altogether: equal for equal changes, empty if nothing could be applied.
        others: what other answers to the same request came to.
    """

    number: int
    by: str
    summary: str = ""
    signature: str = ""
    progress: float = 0.0
    error: str = ""
    diff: str = ""
    edit: str = ""
    others: str = ""


class BestAttempt(Struct):
    """The attempt that came furthest in a run in which none passed.

    Attributes:
        number, by: which attempt it was, and of which agent.
        progress: how far it came, 0 to 1.
        kept: it is what stays changed.
    """

    number: int
    by: str
    progress: float
    kept: bool = False


# --- models -----------------------------------------------------------------------------------------------------------


class Usage(Struct):
    """What models cost. `retries` counts requests that had to be sent again; `calls` answers received, and
    requests that were broken off, whose prompts count by our own estimate.
    """

    calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in names(self)})

    def __sub__(self, other: Usage) -> Usage:
        return Usage(**{name: getattr(self, name) - getattr(other, name) for name in names(self)})


class ToolSpec(Struct):
    """A tool as a model sees it; `parameters` is a JSON schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ToolCall(Struct):
    """A model's wish to call a tool; if `repaired`, from text that had to be mended, it may read and nothing else."""

    id: str = ""
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    repaired: bool = False


class Message(Struct):
    """One message of a chat, in the order of the OpenAI chat protocol."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


class ToolResult(Struct):
    """What a tool call gave back.

    Attributes:
        text: the output as a person or a model reads it; for errors one sentence.
        data: the typed output as plain JSON, where there is more structure than text.
        changed_files: workspace-relative paths that the call changed.
    """

    code: ToolCode = "ok"
    text: str = ""
    data: Any = None
    changed_files: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.code == "ok"


# --- results ----------------------------------------------------------------------------------------------------------


class ScopeViolation(Struct):
    """A change out of scope that a program made.

    Attributes:
        change: what was done to the path.
        reverted: whether it was put back; not if someone changed it once more, or its old content is not known.
    """

    path: str
    change: Literal["made", "changed", "deleted"]
    reverted: bool = True


class RouteStep(Struct):
    """One super-step of a run: which node ran, where it went, who decided and why."""

    node: str
    route: str
    origin: Origin
    tier: Tier
    reason: str = ""


class RunResult(Struct):
    """What a run ends with; `codur --json` prints it (schema in `docs/run-result.schema.json`).

    Attributes:
        before: the check's verdict before anything was changed; None if it was not run.
        verdict: the check's last verdict; None if nothing was checked.
        answer: the answer to a request that asked for one.
        command: the command lines, without `codur`, that do all that was asked for, as the classification says.
        explanation: what was wrong, in a sentence, where it is known (an offline repair knows it).
        made_test: path and text of a test that was made for the task and is not kept.
        repair: what the last search for a repair came to; None if there was none.
        best: the attempt that came furthest, if attempts were checked and none passed; else None.
        solved_by: `pattern`, `repair`, an agent's name, or empty.
        diff: unified diff of what stays changed.
        scope_violations: what programs changed although it was out of scope.
        sandbox: the back end that contained the programs; `none` if nothing did, and `sandbox_note` says why.
        run_id: names the run for `codur show`, `diff`, `undo` and `resume`; empty if it was not recorded.
    """

    schema_version: Literal[1] = 1
    outcome: Outcome
    exit_code: int
    reason: str = ""
    remedy: str = ""
    answer: str = ""
    command: str = ""
    explanation: str = ""
    made_test: str = ""
    task_type: TaskType = "unknown"
    workspace: str = ""
    before: Verdict | None = None
    verdict: Verdict | None = None
    repair: RepairReport | None = None
    best: BestAttempt | None = None
    solved_by: str = ""
    iterations: int = 0
    model_calls: int = 0
    usage: Usage = Usage()
    duration_s: float = 0.0
    changed_files: tuple[str, ...] = ()
    diff: str = ""
    attempts: tuple[Attempt, ...] = ()
    records: tuple[StepRecord, ...] = ()
    route: tuple[RouteStep, ...] = ()
    notes: tuple[str, ...] = ()
    scope_violations: tuple[ScopeViolation, ...] = ()
    sandbox: str = "none"
    sandbox_note: str = ""
    run_id: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON types."""
        plain: dict[str, Any] = to_builtins(self)
        return plain
