"""Phase 0: rules turn a prompt into a settled plan, or into what later phases need to know. No model, nothing is run.

A plan is settled only if a rule's phrase is the whole request, so that nothing else was asked for; in doubt the request
is passed on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codur.planning.patterns.classify import Classification, classify
from codur.planning.patterns.courtesy import without_courtesy
from codur.planning.patterns.danger import danger_in
from codur.planning.patterns.holes import hole_reader
from codur.planning.patterns.named_paths import FileNames, mentions
from codur.planning.patterns.phrases import match
from codur.planning.patterns.prompt_tokens import Token, read_prompt, word_set
from codur.planning.patterns.rules.file_change_rules import COMMANDS
from codur.planning.patterns.rules.git_rules import GIT_WRITES
from codur.planning.patterns.rules.greeting_rules import answer_greeting
from codur.planning.patterns.rules.rule import Found, Rule, Settled, not_allowed
from codur.planning.patterns.rules.web_rules import NETWORK_TOOLS
from codur.planning.patterns.strategies import STRATEGIES, Request, discover_files
from codur.structs import replace
from codur.types import CODE_TASKS, Discovery, Plan, TaskType

if TYPE_CHECKING:
    from codur.config.settings import Settings
    from codur.sandbox.launcher import Launcher
    from codur.workspace.workspace import Workspace

_ASKING = word_set("can could would will")
_COMMANDS: Mapping[TaskType, tuple[Rule, ...]] = {"file_operation": COMMANDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternDecision:
    """What Phase 0 came to.

    Attributes:
        plan: a plan of one deterministic step that does all that was asked; None if rules cannot settle it.
        discovery: what is known about the request either way.
    """

    plan: Plan | None
    discovery: Discovery


def decide(
    prompt: str,
    workspace: Workspace,
    *,
    settings: Settings,
    launcher: Launcher | None = None,
    check_command: str | None = None,
    expect_file: str | None = None,
    check_is_goal: bool = False,
) -> PatternDecision:
    """Settle the prompt, or find out what it is about. Reads the workspace, changes nothing.

    Args:
        launcher: starts git, to see which files are not committed; without it that is not asked.
        check_command, expect_file: the check that the caller gave.
        check_is_goal: the task is to make the check pass: nothing is settled, and the request is about code.

    Raises:
        UsageError: `expect_file` does not exist, or a file that defines the check is wrong.
    """
    text = read_prompt(prompt)
    names = FileNames(workspace)
    request = Request(
        prompt=prompt,
        text=text,
        names=names,
        mentions=mentions(text, names),
        settings=settings,
        launcher=launcher,
        check_command=check_command,
        expect_file=expect_file,
    )
    danger = danger_in(text.tokens)
    goal = check_is_goal or bool(check_command or expect_file)
    if text.complete and not goal:
        settled = _settle(text.tokens, names) if not danger else _by_rules(_COMMANDS, text.tokens, names)
        if settled is not None and settled[2].explains:
            discovery = replace(_discover(request, goal=False), explain=settled[2].explains)
            return PatternDecision(plan=None, discovery=discovery)
        if settled is not None:
            return _decision(request, *_permitted(settled, settings))
    if danger:
        return PatternDecision(plan=None, discovery=discover_files(request, Classification(reason=danger)))
    return PatternDecision(plan=None, discovery=_discover(request, goal=goal))


def _permitted(settled: tuple[TaskType, str, Settled], settings: Settings) -> tuple[TaskType, str, Settled]:
    """What is settled, or how to allow it if it needs the web, or to write to git, and that is off."""
    kind, rule, found = settled
    if found.step.capability in NETWORK_TOOLS and not settings.tools.allow_network:
        found = not_allowed("the web", "allow_network")
    if found.step.capability in GIT_WRITES and not settings.tools.allow_git_write:
        found = not_allowed("writing to the git repository", "allow_git_write")
    return kind, rule, found


def _settle(tokens: tuple[Token, ...], names: FileNames) -> tuple[TaskType, str, Settled] | None:
    """The kind of request, the rule's name and the step that is all of it; None if no rule is sure."""
    greeting = answer_greeting(tokens)
    if greeting is not None:
        return "greeting", "a greeting", greeting
    return _by_rules({kind: strategy.rules for kind, strategy in STRATEGIES.items()}, tokens, names)


def _by_rules(
    rules: Mapping[TaskType, tuple[Rule, ...]], tokens: tuple[Token, ...], names: FileNames
) -> tuple[TaskType, str, Settled] | None:
    said = without_courtesy(tokens)
    for kind, rows in rules.items():
        for rule in rows:
            settled = _apply(rule, said, names)
            if settled is not None and not (rule.writes and _only_asks(tokens)):
                return kind, rule.name, settled
    return None


def _apply(rule: Rule, tokens: tuple[Token, ...], names: FileNames) -> Settled | None:
    read_hole = hole_reader(names)
    for phrase in rule.phrases:
        captures = match(phrase, tokens, read_hole)
        if captures is not None:
            found = Found(captures, names)
            return None if found.has_lines and not rule.takes_lines else rule.build(found)
    return None


def _only_asks(tokens: tuple[Token, ...]) -> bool:
    """Whether a question mark makes the request doubtful: `delete a.txt?`, but not `can you delete a.txt?`."""
    return any(token.key == "?" for token in tokens) and not any(token.key in _ASKING for token in tokens)


def _decision(request: Request, kind: TaskType, rule: str, settled: Settled) -> PatternDecision:
    step = settled.step
    missing = settled.outcome != "done"
    reason = str(step.arguments["text"]) if missing else f"rule: {rule}"
    found = Classification(task_type=kind, confidence=1.0, reason=f"rule: {rule}")
    plan = Plan(steps=(step,), origin="pattern", reason=reason, outcome=settled.outcome, asks=settled.asks)
    return PatternDecision(plan=plan, discovery=discover_files(request, found))


def _discover(request: Request, *, goal: bool) -> Discovery:
    found = classify(request.text.tokens, names_files=bool(request.files))
    if goal and found.task_type not in CODE_TASKS:
        found = Classification(task_type="code_fix", confidence=0.6, reason="a check is to pass")
    return STRATEGIES[found.task_type].discover(request, found)
