"""Phase 2: one call that makes the whole plan, and what a retry does instead."""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from posixpath import dirname
from textwrap import indent

from codur.checks.describe import attempts_text, check_text, verdict_text
from codur.config.prompts import PromptLibrary
from codur.config.settings import Profile
from codur.lazy import regex
from codur.llm.model import ChatRequest
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.parsing.bounded_text import bounded
from codur.planning.replies import Asker, PlanReply, StepReply, argument_values, messages
from codur.structs import Struct, replace
from codur.tools.compatibility import MAX_CANDIDATES
from codur.types import CODE_TASKS, Action, Attempt, Discovery, Origin, Plan, Step, ToolSpec, Verdict

LISTED_FILES = 60
"""Lines of a list of files."""
_CROWD, _FEW = 15, 5
"""A directory with more files than this is crowded: where not even so many of each fit, a few of it are listed."""
_WORDS = regex(r"[^\W_]{3,}")
ANSWER_TOKENS = 1500
PROMPT_CHARS = 4000
SCHEMA_TOKENS = 500
_LIMITS = ((1500, 1000), (700, 400), (300, 150), (150, 0))
"""Characters of an output and of a diff, from generous to tight."""
_INDENT = "    "  # what a program printed begins no section
_ARGUMENTS = 300  # characters of the arguments of a step that are told again
_INSTRUCTIONS_SHARE = 3
"""Of the room beside rules and tools, instructions take at most this part (a third): the task goes before them."""
_SURE = 0.9  # the word that a task begins with says of what type it is; one further on misleads too often
RETRY_OBJECTIVE = "Make the check pass."
"""What the retry of an edit is for: nothing that the task does not say."""


class PlanningBrief(Struct):
    """What the models that classify and plan are told."""

    prompt: str
    discovery: Discovery
    files: Sequence[str]  # the workspace's files as lines, those that the task is about first
    tools: Sequence[ToolSpec]  # tools that a plan may name
    agents: Sequence[tuple[str, str]] = ()  # agents that a plan may name, each with its description
    verdict: Verdict | None = None  # the check's last verdict
    attempts: Sequence[Attempt] = ()  # what was tried before; empty on the first plan
    problem: str = ""  # why the last plan was sent back; empty if it was not
    former: Plan | None = None  # that plan
    failed: str = ""  # what its step gave that failed
    steer: str = ""  # a hint after attempts that made no progress
    instructions: str = ""  # the end of the system prompt: what the user and the project want
    # names of the tools that are described; of the others only the arguments are told. None describes all.
    fitting: Collection[str] | None = None
    read_only: Collection[str] = ()  # those of them that may not be edited


async def make_plan(brief: PlanningBrief, asker: Asker, *, max_steps: int) -> Plan:
    """Ask the default profile for a plan."""
    prompts = asker.prompts
    rules = prompts.render(
        "llm_plan",
        tools=tool_lines(brief.tools, brief.fitting),
        agents="\n".join(f"- {name}: {description}" for name, description in brief.agents),
        max_steps=str(max_steps),
    )
    system = f"{rules}\n{prompts.render('llm_plan.examples')}"

    def request(profile: Profile) -> ChatRequest:
        room = int((profile.request_tokens - ANSWER_TOKENS - SCHEMA_TOKENS) * BYTES_PER_TOKEN) - len(system)
        instructions = bounded(brief.instructions, max(0, room // _INSTRUCTIONS_SHARE))
        return ChatRequest(
            purpose="plan",
            messages=messages(system + instructions, _fitting(brief, prompts, room - len(instructions))),
            max_completion_tokens=ANSWER_TOKENS,
        )

    reply = await asker.ask(asker.pool.profiles.default, request, PlanReply)
    schemas = {spec.name: spec for spec in brief.tools}
    steps = tuple(_step(item, schemas.get(item.capability)) for item in reply.steps)
    return Plan(steps=steps, origin="plan", reason=reply.reasoning)


def retry_plan(plan: Plan | None, *, agent: str, codes: bool) -> Plan | None:
    """The plan of a retry that needs no model: the same single edit again, now with the failure and the hint before it.

    None if the retry needs a plan of its own, as the last one had several steps. `codes`: the agent answers with edits;
    otherwise it is a delegate that works by itself.
    """
    if plan is None or len(plan.steps) != 1 or plan.steps[0].action not in {"coding", "delegate", "repair"}:
        return None
    action: Action = "coding" if codes else "delegate"
    step = Step(id="edit", action=action, capability=agent, objective=RETRY_OBJECTIVE, tier="open")
    origin: Origin = "retry"
    if plan.origin == "user":  # what the user wrote holds for every attempt
        step, origin = replace(plan.steps[0], action=action, capability=agent, tier="open"), "user"
    return Plan(steps=(step,), origin=origin, reason="the same edit again, with the failure")


def _step(item: StepReply, spec: ToolSpec | None) -> Step:
    arguments = argument_values(item.arguments, spec)
    return Step(
        id=item.id,
        action=item.action,
        capability=item.capability,
        objective=item.objective,
        expected_output=item.expected_output,
        success_criteria=item.success_criteria,
        inputs=item.inputs,
        arguments=arguments,
        decide="guided" if item.action == "tool" and not item.capability else "",
        tier="deterministic" if item.action in {"tool", "respond", "ask"} else "open",
    )


def _task_text(
    brief: PlanningBrief, prompts: PromptLibrary, prompt_chars: int, output_chars: int, diff_chars: int
) -> str:
    text = prompts.render(
        "llm_plan.task",
        task=bounded(brief.prompt, prompt_chars),
        findings=discovery_text(brief.discovery),
        files=file_list(brief.files, brief.read_only),
        check=demanded(brief.discovery, brief.verdict),
    )
    failed = brief.verdict is not None and brief.verdict.status != "passed"
    now = verdict_text(brief.verdict, limit=output_chars) if brief.verdict is not None and failed else ""
    sections = [
        ("The check now", now),
        (
            "Earlier attempts",
            attempts_text(
                brief.attempts, diff_chars=diff_chars, error_chars=output_chars, now=brief.verdict if now else None
            ),
        ),
        ("Your last plan was sent back", _sent_back(brief, output_chars)),
        ("Hint", brief.steer),
    ]
    return text + "".join(f"\n\n# {title}\n{body}" for title, body in sections if body)


def _sent_back(brief: PlanningBrief, limit: int) -> str:
    """Why the last plan was sent back, what it was, and the last lines of what failed; each of so many characters."""
    steps = "\n".join(map(_step_line, brief.former.steps)) if brief.former is not None and brief.problem else ""
    output = brief.failed.rstrip()
    last = output if len(output) <= limit else output[-limit:].partition("\n")[2] or output[-limit:]
    parts = [
        brief.problem,
        f"Its steps were:\n{bounded(steps, limit)}" if steps else "",
        f"The end of what the step that failed gave:\n{indent(last, _INDENT)}" if last else "",
    ]
    return "\n\n".join(filter(None, parts))


def _step_line(step: Step) -> str:
    """A step in a line."""
    arguments = json.dumps(dict(step.arguments), ensure_ascii=False) if step.arguments else ""
    cut = arguments if len(arguments) <= _ARGUMENTS else f"{arguments[:_ARGUMENTS]}…"
    must = f"; must hold: {step.success_criteria}" if step.success_criteria else ""
    return " ".join(filter(None, (f"- {step.id}:", step.action, step.capability, cut))) + must


def _fitting(brief: PlanningBrief, prompts: PromptLibrary, room_chars: int) -> str:
    """The task's text with outputs and diffs cut as far as it takes to fit."""
    for limits in _LIMITS:
        text = _task_text(brief, prompts, max(PROMPT_CHARS, room_chars // 2), *limits)
        if len(text) <= room_chars:
            return text
    return text[: max(0, room_chars)]


def tool_lines(tools: Sequence[ToolSpec], fitting: Collection[str] | None = None) -> str:
    """The tools of a plan prompt, a line each; those that do not fit the kind of task together in the last line."""
    fits = [spec for spec in tools if fitting is None or spec.name in fitting]
    others = [spec for spec in tools if spec not in fits]
    lines = [f"- {signature(spec)}: {spec.description}" for spec in fits]
    return "\n".join([*lines, *([f"- others: {', '.join(map(signature, others))}"] if others else [])])


def nearest_to(prompt: str, tools: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The names of the tools, ten at most, whose names and descriptions share the most words with the task."""
    wanted = set(_WORDS.findall(prompt.lower()))
    ranked = sorted(tools, key=lambda tool: -len(wanted & set(_WORDS.findall(" ".join(tool).lower()))))
    return frozenset(name for name, _ in ranked[:MAX_CANDIDATES])


def signature(spec: ToolSpec) -> str:
    """A tool and its parameters in a few words: `read_file(path, start_line?)`."""
    required = spec.parameters.get("required", ())
    names = (name if name in required else f"{name}?" for name in spec.parameters.get("properties", {}))
    return f"{spec.name}({', '.join(names)})"


def shortened(files: Sequence[str], marked: Collection[str] = ()) -> list[str]:
    """Files as lines of a list of at most `LISTED_FILES`; of crowded directories the first ones, and how many more.

    Args:
        marked: those that something speaks for, which no directory's others stand back for.
    """
    if len(files) <= LISTED_FILES:
        return list(files)
    sizes = Counter(dirname(path) for path in files if path not in marked)
    rest = len(files) - sizes.total()
    # As many of each as fit, so that none takes the room of the others; a line that says "1 more" can name it as well.
    lines_of = {most: sum(min(size, most + 1) for size in sizes.values()) for most in range(LISTED_FILES, _CROWD, -1)}
    crowd = next((most for most, lines in lines_of.items() if rest + lines <= LISTED_FILES), _CROWD)
    few = crowd if crowd > _CROWD else _FEW
    lines, seen, shown = list[str](), Counter[str](), 0
    for path in files:
        if len(lines) >= LISTED_FILES:
            break
        directory = dirname(path)
        seen[directory] += path not in marked
        if path in marked or sizes[directory] <= crowd + 1 or seen[directory] <= few:
            lines.append(path)
            shown += 1
        elif seen[directory] == few + 1:
            lines.append(f"… and {sizes[directory] - few} more in {directory or '.'}/")
            shown += sizes[directory] - few
    return [*lines, *([f"… and {len(files) - shown} more"] if shown < len(files) else [])]


def file_list(files: Sequence[str], read_only: Collection[str] = ()) -> str:
    """The lines of a list of files, with a mark on those that may not be edited."""
    return "\n".join(f"{line} (read only)" if line in read_only else line for line in files) or "(no files)"


def demanded(discovery: Discovery, verdict: Verdict | None) -> str:
    """What the check demands; where rules did not take the task for one about code, none was looked for.

    Args:
        verdict: the last one; None if nothing was looked for or run.
    """
    if discovery.check is None and (discovery.task_type not in CODE_TASKS or verdict is None):
        return "Not looked for yet, as the task need not be about code; it is found before the first edit."
    return check_text(discovery.check)


def discovery_text(discovery: Discovery) -> str:
    """What Phase 0 found out, a line each, under its heading; empty if that is nothing."""
    of_rules = not discovery.sentence
    sure = discovery.task_type != "unknown" and (not of_rules or discovery.confidence >= _SURE)
    lines = [f"type{' by rules' if of_rules else ''}: {discovery.task_type}"] if sure else []
    known = [path for path in discovery.files if path not in discovery.guessed]
    if known:
        lines.append("files named or involved: " + ", ".join(known))
    if discovery.guessed:
        lines.append("files that a classification guessed: " + ", ".join(discovery.guessed))
    if discovery.missing_files:
        lines.append("named but absent: " + ", ".join(discovery.missing_files))
    if discovery.entry:
        lines.append(f"program: {discovery.entry}")
    return "\n".join(["# Found by keywords and file names, may be wrong", *lines, "\n"]) if lines else ""
