"""Phase 0: rules turn a prompt into a settled plan, or into what later phases need to know. No model, nothing is run.

A plan is settled only if a rule's phrase is the whole request, so that nothing else was asked for; in doubt the request
is passed on.
"""

from collections.abc import Mapping

from codur import checks, tools
from codur.config.settings import Settings
from codur.planning.patterns.classify import A_COMMAND, Classification, classify, danger_in
from codur.planning.patterns.courtesy import Courtesy, greeting_in, without_courtesy
from codur.planning.patterns.holes import hole_reader
from codur.planning.patterns.named_paths import FileNames, mentions
from codur.planning.patterns.phrases import match
from codur.planning.patterns.prompt_tokens import Token, read_prompt
from codur.planning.patterns.request import Request
from codur.planning.patterns.rules import file_change_rules, lookup_rules, run_rules
from codur.planning.patterns.rules.rule import Found, Rule, Settled, not_allowed, say
from codur.sandbox.launcher import Launcher
from codur.structs import Struct, replace
from codur.types import CODE_TASKS, Check, Discovery, Plan, Task, TaskType
from codur.workspace.workspace import Workspace

_ASKING = frozenset({"can", "could", "would", "will"})
RULES: Mapping[TaskType, tuple[Rule, ...]] = {
    "git": lookup_rules.GIT_RULES,
    "run": run_rules.RULES,
    "explanation": lookup_rules.STRUCTURE_RULES,
    "search": lookup_rules.SEARCH_RULES,
    "file_operation": (*lookup_rules.READING_RULES, *file_change_rules.RULES),
    "web_search": lookup_rules.WEB_RULES,
}
"""What settles each kind of request, the first that fits; other kinds need a model."""
_COMMANDS: Mapping[TaskType, tuple[Rule, ...]] = {
    "file_operation": file_change_rules.COMMANDS,
    "run": run_rules.COMMANDS,
}
_TO_GIT = "writing to the git repository"
_HELP = """\
I work on the code in this folder. You can ask, for example:
  fix main.py
  add a function that … to utils.py
  show app.py lines 10-20
  find usages of parse_line in src
  what changed
  explain app.py
  run the tests
Files, git, search and running programs need no model; a fix is checked before I call it done."""
_ANSWERS: Mapping[Courtesy, str] = {
    "hello": "Hello. Tell me what to do in this folder, for example `fix main.py` or `show app.py`; `help` lists more.",
    "thanks": "You are welcome.",
    "bye": "Goodbye.",
    "help": _HELP,
}


class PatternDecision(Struct):
    """What Phase 0 came to: what is known, and a plan of one step that does all that was asked, if rules know one."""

    plan: Plan | None
    discovery: Discovery


def decide(
    task: Task, workspace: Workspace, *, settings: Settings, launcher: Launcher | None = None
) -> PatternDecision:
    """Settle the prompt, or find out what it is about. Reads the workspace, changes nothing.

    With a check that the caller gave, or one that is the goal, nothing is settled: it is about code. Without a launcher
    git is not asked which files are not committed. UsageError as `discover_code`.
    """
    text = read_prompt(task.prompt)
    names = FileNames(workspace)
    request = Request(
        task=task,
        text=text,
        names=names,
        mentions=mentions(text, names),
        settings=settings,
        launcher=launcher,
    )
    danger = danger_in(text.tokens)
    goal = task.check_is_goal or bool(task.check_command or task.expect_file)
    if text.complete and not goal:
        # What sounds dangerous is settled only as a command that looks, or as `cp`, `mv` or `rm` with files that it
        # names: nothing has to be guessed.
        settled = _settle(text.tokens, names) if not danger else _by_rules(_COMMANDS, text.tokens, names)
        if settled is not None and settled[2].explains:
            discovery = replace(_discover(request, goal=False), explain=settled[2].explains)
            return PatternDecision(plan=None, discovery=discovery)
        if settled is not None and settled[2].step.capability == "run_check":
            return _judged(*settled, request)
        if settled is not None and (permitted := _permitted(settled, request)) is not None:
            return _decision(request, *permitted)
    if danger and not (danger == A_COMMAND and checks.suites.named_command.is_about_command(task.prompt)):
        return PatternDecision(plan=None, discovery=request.discovery(Classification(reason=danger)))
    return PatternDecision(plan=None, discovery=_discover(request, goal=goal))


def _permitted(settled: tuple[TaskType, str, Settled], request: Request) -> tuple[TaskType, str, Settled] | None:
    """What is settled, or how to allow it if it needs the web, or to write to git, and that is off.

    None where git has nothing under way that could be gone on with: then something else is meant.
    """
    kind, rule, found = settled
    tool, may = found.step.capability, request.settings.tools
    if tool in lookup_rules.NETWORK_TOOLS and not may.allow_network:
        found = not_allowed("the web", "allow_network")
    if tool not in lookup_rules.GIT_WRITES:
        return kind, rule, found
    instead = lookup_rules.GIT_WRITES[tool]
    if tool == "git_continue" and request.launcher is not None:
        under_way = tools.git.git_under_way.seen_under_way(request.names.workspace.root, request.launcher)
        if under_way is None:
            return None
        instead = f"This finishes it: {under_way.finish}"
    return kind, rule, found if may.allow_git_write else not_allowed(_TO_GIT, "allow_git_write", instead)


def _settle(tokens: tuple[Token, ...], names: FileNames) -> tuple[TaskType, str, Settled] | None:
    """The kind of request, the rule's name and the step that is all of it; None if no rule is sure."""
    courtesy = greeting_in(tokens)
    if courtesy is not None:
        return "greeting", "a greeting", say(_ANSWERS[courtesy])
    return _by_rules(RULES, tokens, names)


def _by_rules(
    rules: Mapping[TaskType, tuple[Rule, ...]], tokens: tuple[Token, ...], names: FileNames
) -> tuple[TaskType, str, Settled] | None:
    said = without_courtesy(tokens)
    for kind, rows in rules.items():
        for rule in rows:
            settled = _apply(rule, said, names)
            # A question mark makes the request doubtful: `delete a.txt?`, but not `can you delete a.txt?`.
            only_asks = any(token.key == "?" for token in tokens) and all(token.key not in _ASKING for token in tokens)
            if settled is not None and not (rule.writes and only_asks):
                return kind, rule.name, settled
    return None


def _apply(rule: Rule, tokens: tuple[Token, ...], names: FileNames) -> Settled | None:
    read_hole = hole_reader(names)
    for phrase in rule.phrases:
        captures = match(phrase, tokens, read_hole)
        if captures is not None:
            found = Found(captures, names)
            # Lines that a rule knows nothing of would be left out of what it does: the request is passed on.
            return None if found.has_lines and not rule.takes_lines else rule.build(found)
    return None


def _decision(request: Request, kind: TaskType, rule: str, settled: Settled) -> PatternDecision:
    step = settled.step
    reason = f"rule: {rule}"
    found = Classification(task_type=kind, confidence=1.0, reason=reason)
    told = reason if settled.outcome == "done" else str(step.arguments["text"])
    plan = Plan(steps=(step,), origin="pattern", reason=told, outcome=settled.outcome, asks=settled.asks)
    return PatternDecision(plan=plan, discovery=request.discovery(found))


def _judged(kind: TaskType, rule: str, settled: Settled, request: Request) -> PatternDecision:
    """What runs the check; it is left to a model to find one where none is known."""
    step, task = settled.step, request.task
    command = step.arguments.get("command", "")
    asked = replace(task, prompt=f"fix {command}") if command else task
    discovery = _discover(replace(request, task=asked), goal=True)
    if path := step.arguments.get("path"):  # whatever is tested beside it
        discovery = replace(discovery, check=Check(kind="syntax", argv=(), parses=(path,), source="it is asked for"))
    if discovery.check is None or (discovery.check.kind not in {"tests", "command"} and not path):
        return PatternDecision(plan=None, discovery=_discover(request, goal=False))
    found = replace(settled, step=replace(step, arguments={}))
    return PatternDecision(plan=_decision(request, kind, rule, found).plan, discovery=discovery)


def _discover(request: Request, *, goal: bool) -> Discovery:
    """The kind and the files; of what is about code, or may be, also the check and the program."""
    found = classify(request.text.tokens, names_files=bool(request.files))
    # "python check.py fails" is no wish to run it.
    goal = goal or (found.task_type == "run" and checks.suites.named_command.is_about_command(request.task.prompt))
    if goal and found.task_type not in CODE_TASKS:
        found = Classification(task_type="code_fix", confidence=0.6, reason="a check is to pass")
    if found.task_type not in CODE_TASKS and found.task_type != "unknown":
        return request.discovery(found)
    from codur.planning.patterns.code_request import discover_code  # noqa: PLC0415 - lazy: settled requests need no check

    return discover_code(request, found)
