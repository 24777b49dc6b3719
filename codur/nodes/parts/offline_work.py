"""What makes sense without a model, and why not: a search for a repair, a test to begin with, output that is kept."""

import re
from posixpath import basename, splitext
from typing import TYPE_CHECKING

from codur import checks, planning
from codur.checks import suites
from codur.errors import CodurError, WorkspaceError
from codur.lazy import regex
from codur.nodes.parts.finding import asks_for_tests, is_about_tests, rest_may_be_apart
from codur.nodes.parts.updates import end_by, outcome_of, why_not
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.planning.patterns.refusals import is_about_prose, keeps_a_part, kept_files
from codur.planning.plans.first_plan import SEARCH
from codur.planning.plans.step_references import escaped
from codur.tools import code, git
from codur.tools.tool import ToolError
from codur.types import Check, Plan, Step

if TYPE_CHECKING:
    from codur.tools.git.git_under_way import UnderWay

_WORD = regex(r"[\w./-]*\w")
_DATA = frozenset({".csv", ".tsv", ".json", ".jsonl", ".txt", ".xml", ".xlsx", ".db", ".log", ".out", ".dat"})
_HELD = _DATA | {".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".po", ".service"}
_SPOKEN = regex(
    r"\b(?:workflow|github actions?|dockerfile|docker image|makefile|readme|changelog|release notes?)\b", re.IGNORECASE
)
"""Words for files that no search mends."""
_INTO_TEXT = regex(
    r"(?:(?:^|[.;]\s+)(?:please )?(?:update|edit|translate|(?:add|make(?! it)|write|put)\b"
    r"(?:(?! and |\(|\b(?:functions?|methods?|that|which|writes?|saves?)\b)[^.;,\n])*?"
    r" (?:in|into|to))|\bmissing(?![^\n]*\(\)) (?:in|from))"
    r" (?:the |our )?[\w./-]*\w\.(?:md|rst|adoc|json|ya?ml|toml|ini|po)\b",
    re.IGNORECASE,
)
"""What a document or a file of data is to hold."""
_RUNS_OF_MADE = 8  # red twice, green twice with the project's own after it, and an attempt that fails
_LEAST_CALLS = 2  # model calls that must be left for a test to be made: one for it, one for the edit
_RUN_BY_PYTEST = (".py", ".ipynb")  # what a test for pytest can run


_NO_CHECK = "No check was found that tells a right program from a wrong one; name one with --check."
_ONLY_A_MODEL = "The task asks for an edit that no rule knows, and only a model can make it."


def can_repair(state: RunState, context: RunContext) -> bool:
    """Whether an offline search makes sense: a red check, Python sources, not switched off."""
    return not why_no_search(state, context)


def conflicts(context: RunContext) -> "UnderWay | None":
    """What git has under way, if it left conflict markers in files that are still there."""
    found = git.git_under_way.seen_under_way(context.workspace.root, context.launcher)
    return found if found is not None and found.marked else None


def not_searched(marked: "UnderWay", state: RunState, context: RunContext) -> tuple[Plan, str]:
    """The end of a task where no model resolves the conflicts, and its remedy: no search mends them."""
    remedy, reason, error = f"Resolve them, then: {marked.finish}", f"{marked.told}; no search mends a conflict", None
    if state["task"].repair is None:
        error = why_not(state, context)
        reason, remedy = f"{reason}. {error.message}", f"{error.remedy} Or r{remedy[1:]}"
    end = (Step(id="end", action="respond"),)
    return Plan(steps=end, origin="llm_error", reason=reason, outcome="no_model" if error else "usage"), remedy


def _more_than_a_fix(state: RunState, check: Check, context: RunContext) -> str:
    """What a task asks for that a search knows nothing of; empty if nothing."""
    if (marked := conflicts(context)) is not None:
        return f"{marked.told}; no search mends a conflict."
    is_fix = state["discovery"].task_type == "code_fix" or context.workspace.changed_files()
    if not (is_fix or check.kind == "output"):  # the whole output says what is wanted; tests may say else
        red = state["before"] is not None and state["before"].status == "failed"
        instead = " `codur repair` does that." if red else ""
        return f"The task asks for more than a fix, and a search only mends what the check finds wrong.{instead}"
    named, prompt = suites.named_command, state["task"].prompt
    spoken = named.is_about_command(prompt) and named.spoken_command(prompt)
    if spoken and check.source != checks.find_check.OF_COMMAND:
        return f"The task is about `{spoken}`, which is not declared here or does more than look, so it is no check."
    if what := _no_code(state, context):
        return f"The task is about {what}, and a search mends what fails in Python; a model reads it."
    if is_about_prose(state["task"].prompt):
        return "The task is about what people read, and a search mends what the check finds wrong; a model reads it."
    if keeps_a_part(state["task"].prompt) and not left_alone(state, context):
        return "The task says what has to stay as it is, and a search knows nothing of that; a model reads it."
    return ""


def _no_code(state: RunState, context: RunContext) -> str:
    """What a task is about that is neither a program nor its data: a workflow, a document; empty if there is none."""
    prompt, before = state["task"].prompt, state["before"]
    if state["task"].check_is_goal or (before is not None and is_about_tests(before.failing, state)):
        return ""
    said = {word.rstrip(".") for word in _WORD.findall(prompt)}
    modules = (splitext(basename(path))[0] for path in context.workspace.list_files(pattern="*.py"))
    if any(word.endswith(".py") for word in said) or not said.isdisjoint(modules):
        return ""
    files = (path for path in context.workspace.list_files() if path in said or basename(path) in said)
    named = [path for path in files if splitext(path)[1] not in _DATA and not checks.entry.is_code(path)]
    spoken = _SPOKEN.search(prompt)
    return named[0] if named else spoken[0] if spoken else ""


def left_alone(state: RunState, context: RunContext) -> tuple[str, ...]:
    """The files that the task wants left as they are; empty if it names none, or something else is to stay, too."""
    files = context.workspace.list_files()
    meant = [
        [path for path in files if f"/{path}".endswith(f"/{name.removeprefix('./')}")]
        for name in kept_files(state["task"].prompt) or ()
    ]
    return tuple(path for paths in meant for path in paths) if all(len(paths) == 1 for paths in meant) else ()


def why_no_search(state: RunState, context: RunContext) -> str:
    """Why no offline search is made, in a sentence; empty if one can be."""
    before, check = state["before"], state["discovery"].check
    asked = state["task"].repair is not None
    if context.settings.repair.mode == "off" and not asked:
        return "The search for a repair is switched off (repair.mode)."
    if not context.settings.tools.allow_write:
        return "No repair is searched for: tools.allow_write is off."
    if check is None or check.kind == "syntax":
        # Of documents and settings no check would guide a search.
        text = _no_code(state, context) or not any(map(checks.entry.is_code, context.workspace.list_files()))
        fix = state["discovery"].task_type in {"code_fix", "unknown"} and not text
        return _NO_CHECK if asked or fix else _ONLY_A_MODEL
    if not any(context.workspace.list_files(pattern="*.py", limit=1)):
        renames = state["discovery"].task_type == "refactor" and "rename" in state["task"].prompt.lower()
        does = "Without a model only Python names are renamed" if renames else "The search for a repair mends Python"
        return f"{does}, and there is none here."
    if not asked and (more := _more_than_a_fix(state, check, context)):
        return more
    if check.text or check.of_linter or check.within_s:
        what = "linter" if check.of_linter else "time" if check.within_s else "test that was made for the task"
        return f"The check is a {what}; such a one does not guide a search."
    if before is None or before.status != "failed":
        why = before.note or before.status if before is not None else "it was not run"
        why = "it passes already" if before is not None and before.passed else why
        return f"The check cannot guide a search: {why}."
    problem = suites.run_problem.run_problem(check, before, root=context.workspace.root, python=context.python)
    if problem is not None and problem.kind in suites.run_problem.ENVIRONMENT:
        return f"{problem.text} {problem.remedy}"
    if not (asked or before.failing or any(path.endswith(".py") for path in state["discovery"].files)):
        return f"The check fails (`{before.check}`), but nothing says which Python file it is about; name the file."
    return ""


def not_of_the_program(state: RunState, context: RunContext) -> "suites.run_problem.RunProblem | None":
    """Why the check fails, if that is no fault of the program: it cannot run here, or what of it fails cannot."""
    task, before = state["task"], state["before"]
    check, root = state["discovery"].check, context.workspace.root
    if before is None or check is None or before.status not in {"failed", "passed"}:
        return None
    # Only where the answer would be that there is nothing to fix: what passes may be all that is wanted otherwise.
    asks = (state["discovery"].task_type == "code_fix" or task.check_is_goal) and task.repair is None
    if before.passed and (not asks or planning.plans.first_plan.says_more(task.prompt, state["discovery"])):
        return None
    problem = suites.run_problem.run_problem(check, before, root=root, python=context.python, task=task.prompt or "-")
    return problem if problem is not None and problem.kind in suites.run_problem.ENVIRONMENT else None


def may_make_check(state: RunState, context: RunContext) -> bool:
    """Whether a test for the task is worth a call: nothing fails because of it yet, and nobody named a check."""
    task, found, before = state["task"], state["discovery"], state["before"]
    check, calls_left = found.check, task.limits.max_llm_calls - context.models.usage.calls
    if calls_left < _LEAST_CALLS or not _may_begin(state, context):
        return False
    unwanted = asks_for_tests(task.prompt) or checks.stated_output.NONE_WANTED.search(task.prompt)
    unwanted = unwanted or _INTO_TEXT.search(task.prompt)
    if found.task_type not in {"code_fix", "code_generation"} or unwanted:
        return False
    if not context.workspace.list_files(limit=1):  # how what is to be made is called is for who makes it
        return False
    # No test fails for what documents say, and none for a test that is to be written or moved.
    files = (*found.files, *found.missing_files)
    subjects = [path for path in files if not (checks.entry.is_document(path) or checks.entry.is_test_code(path))]
    if files and not subjects and (found.guessed or found.task_type == "code_generation"):
        return False
    # Nor for data and settings, and what looks at them is no program, unless it comes first.
    names = checks.find_check.CHECKER
    looks = {path for path in files[1:] if names.match(basename(path)) or basename(path) == "conf.py"}
    held = {path for path in subjects if splitext(path)[1] in _HELD or _SPOKEN.search(basename(path))}
    if found.guessed and looks | held >= set(subjects):
        return False
    if check is not None and check.kind not in {"tests", "syntax"}:
        return False
    is_red = before is not None and before.status != "no_check" and not before.passed
    other = suites.made_for_runner.is_other(check)
    # What fails for other reasons may go on to, if each test is told apart.
    named = check is not None and ("pytest" in check.argv or (before is not None and bool(before.failing)))
    if is_red and not (named and rest_may_be_apart(state)):
        return False
    if other:  # all of its tests run each time
        ends = before is None or before.duration_s * _RUNS_OF_MADE <= context.time_left()
        return before is None or (bool(before.tests_passed) and ends)
    listed = (context.workspace.list_files(pattern=f"*{suffix}", limit=1) for suffix in _RUN_BY_PYTEST)
    return any(listed) or any(path.endswith(_RUN_BY_PYTEST) for path in state["discovery"].missing_files)


def may_keep_output(state: RunState, context: RunContext) -> bool:
    """Whether what programs print and write now is to be compared: a task may keep it, and nothing else is a check."""
    check = state["discovery"].check
    if state["discovery"].task_type != "refactor" or (check is not None and check.kind != "syntax"):
        return False
    return _may_begin(state, context)


def _may_begin(state: RunState, context: RunContext) -> bool:
    """Whether a check can still be made: nobody named one, and nothing was changed or tried."""
    task, settings = state["task"], context.settings
    named = task.check_is_goal or task.check_command is not None or task.expect_file is not None
    if state["making"] or state["attempts"] or named or settings.verification.make_check == "never":
        return False
    return settings.tools.allow_run and settings.tools.allow_write and not context.workspace.changed_files()


def repair_tried(state: RunState) -> bool:
    """Whether an offline search has run already."""
    return any(record.node == "repair" for record in state["records"])


def explained(state: RunState, context: RunContext) -> Plan | None:
    """The plan of telling what can be read of a file, where no model explains it; None if that is not the task."""
    path, workspace = state["discovery"].explain, context.workspace
    if not path or state["task"].agent or not code.definitions.is_read(path):
        return None
    check = checks.find_check.find_check(
        workspace, context.settings.verification, checks.find_check.CheckRequest(files=(path,))
    )
    try:
        text = planning.explanation.explanation(path, workspace, check)
    except (ToolError, WorkspaceError) as error:
        end = Step(id="explain", action="respond")
        return Plan(steps=(end,), origin="pattern", reason=error.message, outcome="not_achieved")
    step = Step(
        id="explain", action="respond", objective=f"Tell what can be read of {path}.", arguments={"text": escaped(text)}
    )
    return Plan(steps=(step,), origin="pattern", reason=f"no model explains {path}, so it is told what can be read")


def plan_after_error(error: CodurError, state: RunState, context: RunContext) -> RunUpdate:
    """What a planning node decides when no model answers: offline work if there is any, else the end."""
    told = explained(state, context)
    if told is not None:
        return RunUpdate(plan=told, cursor=0)
    if can_repair(state, context) and not repair_tried(state):
        plan = Plan(steps=(SEARCH,), origin="llm_error", reason=f"{error.message}; working offline")
    else:
        end = Step(id="end", action="respond")
        plan = Plan(steps=(end,), origin="llm_error", reason=error.message, outcome=outcome_of(error))
    return RunUpdate(plan=plan, cursor=0, **end_by(error))
