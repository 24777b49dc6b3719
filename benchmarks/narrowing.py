"""Tokens of a prompt with narrowing against all tools, by the project's estimate; no model is asked.

    python benchmarks/narrowing.py [--check]

- guided: what a decision after each tool is shown (question, candidates, fields that matter) against all tools as a
  request holds them (names, descriptions, JSON schemas), and against all tools written as shortly as the candidates.
- schemas: the candidates' own schemas against those of all tools, where the next tool is called natively.
- loop: the requests of a conversation of an agent with every tool. `cached` is what of them begins as the
  request before did, tools first: services charge less for it, or nothing.
- asked: the same conversation, and two shorter ones, if a model were asked after each result which of the few tools
  that fit is next, as it is for a plan's step with `decide: guided`. Where its answer settles the call, the request of
  the conversation that would have made it is saved; where the call needs more than the question shows (a new text,
  another file), or the agent is done, the question comes on top. `rest` is without what is cached.
- plan: the tools of the plan prompt for each kind of task.

`--check` ends with 1 if the mean of `guided` is above 1/5, or any single one is.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

sys.path.insert(0, str(Path(__file__).parents[1]))

from codur.agents.assignment import Assignment
from codur.agents.loop import run_agent
from codur.agents.offers import Offering
from codur.agents.registry import AgentRegistry
from codur.config.prompts import PromptLibrary
from codur.config.settings import LlmSettings, Settings, ToolSettings
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.tokens import BYTES_PER_TOKEN, estimate_tokens, prompt_tokens
from codur.planning.narrowing import (
    GuidedDecisionPoint,
    Narrowing,
    ToolCandidate,
    context_for,
    decide_next,
    guided_decision_points,
    prompt_for,
)
from codur.planning.plans.full_plan import tool_lines
from codur.planning.repair_choice import ToolQuestion
from codur.planning.replies import Asker
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.tools.catalogue import all_tools
from codur.tools.compatibility import ends_of
from codur.tools.tool import EVERY_TASK
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import Limits, ToolCall, ToolSpec
from codur.workspace.workspace import Workspace
from tests.support.scripted_model import ScriptedModel

MOST = 0.2
ALL = all_tools()
NAMES = tuple(tool.name for tool in ALL)
PROGRAM = """def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result
"""
Call = tuple[str, dict[str, object]]
CALLS: tuple[Call, ...] = (
    ("list_files", {}),
    ("read_file", {"path": "main.py"}),
    ("grep_files", {"pattern": "total"}),
    ("find_usages", {"path": "main.py", "name": "total"}),
    ("replace_in_file", {"path": "main.py", "old": "result = 0", "new": "result = 1"}),
    ("git_diff", {}),
    ("read_file", {"path": "main.py", "start_line": 4}),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Tokens with narrowing against all tools.")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a figure is not reached")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        toolbox = toolbox_on(Path(folder))
        worst, mean = guided(toolbox)
        print()
        loop(Path(folder), toolbox)
        print()
        asked(Path(folder), toolbox)
    print()
    plans(toolbox)
    reached = mean <= MOST and worst <= MOST
    print(
        f"\nguided against all tools: mean {mean:.3f}, most {worst:.3f} (at most {MOST}): {'yes' if reached else 'NO'}"
    )
    return 1 if check and not reached else 0


def toolbox_on(root: Path) -> Toolbox:
    (root / "main.py").write_text(PROGRAM)
    (root / "other.py").write_text("from main import total\n\nprint(total([1, 2]))\n")
    launcher = Launcher({"PATH": os.environ["PATH"]})
    return Toolbox(
        ToolContext(
            workspace=Workspace.open(root.resolve()),
            launcher=launcher,
            find_python=lambda: sys.executable,
            settings=ToolSettings(),
            timeout_s=20,
        )
    )


def spec_tokens(specs: tuple[ToolSpec, ...]) -> int:
    return prompt_tokens(ChatRequest(purpose="", messages=(), tools=specs))


# --- a decision -------------------------------------------------------------------------------------------------------


def guided(toolbox: Toolbox) -> tuple[float, float]:
    every = tuple(
        ToolCandidate(
            name=tool.name,
            description=tool.description,
            input_schema_summary=ends_of(tool).summary,
            compatibility_score=0,
        )
        for tool in ALL
    )
    schemas = spec_tokens(toolbox.specs(NAMES))
    rows = []
    print(f"{len(ALL)} tools, {schemas} tokens with their schemas")
    print(f"{'after':34} {'tools':>5} {'guided':>7} {'/ all':>6} {'/ short':>7}  {'schemas':>7} {'/ all':>6}")
    for point in guided_decision_points():
        fields = json.dumps(context_for(point, dict.fromkeys(point.context_fields, "x" * 40)))
        tokens = estimate_tokens(prompt_for(point)) + estimate_tokens(fields)
        short = estimate_tokens(prompt_for(replace(point, candidate_tools=every))) + estimate_tokens(fields)
        own = spec_tokens(toolbox.specs(each.name for each in point.candidate_tools))
        question = tokens - estimate_tokens(listed(point))
        rows.append((tokens / (schemas + question), tokens / short, own / schemas))
        print(
            f"{point.after_step:34} {len(point.candidate_tools):5} {tokens:7} {rows[-1][0]:6.3f} {rows[-1][1]:7.3f}"
            f"  {own:7} {rows[-1][2]:6.3f}"
        )
    means = [statistics.mean(column) for column in zip(*rows, strict=True)]
    print(f"{'mean':34} {'':5} {'':7} {means[0]:6.3f} {means[1]:7.3f}  {'':7} {means[2]:6.3f}")
    return max(row[0] for row in rows), means[0]


def listed(point: GuidedDecisionPoint) -> str:
    return prompt_for(point).partition("\n")[2]


# --- an agent's conversation ------------------------------------------------------------------------------------------


def loop(root: Path, toolbox: Toolbox) -> None:
    print(f"{'an agent with every tool, requests':34} {'tokens':>7} {'cached':>7} {'rest':>7}   first  last")
    for native in (True, False):
        for narrow in (False, True):
            requests = converse(root, toolbox, narrow=narrow, native=native)
            sizes = [prompt_tokens(request) for request in requests]
            cached = sum(common(requests[at - 1], requests[at]) for at in range(1, len(requests)))
            name = f"{'native' if native else 'in text'}, {'narrowed' if narrow else 'all tools'}, {len(requests)}"
            print(f"{name:34} {sum(sizes):7} {cached:7} {sum(sizes) - cached:7} {sizes[0]:7} {sizes[-1]:5}")


def converse(
    root: Path, toolbox: Toolbox, *, narrow: bool, native: bool, calls: Sequence[Call] = CALLS
) -> list[ChatRequest]:
    (root / "main.py").write_text(PROGRAM)
    settings = Settings(llm=LlmSettings(default_profile="gpt-oss-120b"))
    known = AgentRegistry(settings).resolve("codur-explaining")
    agent = replace(known, config=structs.replace(known.config, tools=NAMES, max_steps=len(CALLS) + 2))
    profile = structs.replace(
        settings.llm.profiles[agent.profile], request_tokens=100_000, tool_calls="native" if native else "json"
    )
    replies: list[ChatReply | str] = [
        ChatReply(tool_calls=(ToolCall(id=f"c{number}", name=name, arguments=arguments),))
        if native
        else json.dumps({"tool_calls": [{"tool": name, "args": arguments}]})
        for number, (name, arguments) in enumerate(calls)
    ]
    model = ScriptedModel([*replies, "Done."], profile_name=agent.profile, profile=profile)
    asyncio.run(
        run_agent(
            "# Task\nmake total start at one",
            Assignment(
                agent=agent,
                profile=profile,
                pool=ModelPool(settings, {}, Limits(), PoolOptions(models={agent.profile: model})),
                prompts=PromptLibrary(),
                toolbox=toolbox,
            ),
            Offering(narrow=narrow, task_type="code_fix", files=("main.py",)),
        )
    )
    return list(model.requests)


def asked(root: Path, toolbox: Toolbox) -> None:
    print(f"{'a question after each result':34} {'without':>8} {'rest':>7} {'with':>8} {'rest':>7}  settled")
    for calls in (CALLS[:2], CALLS[:4], CALLS):
        requests = converse(root, toolbox, narrow=True, native=True, calls=calls)
        sizes = [prompt_tokens(request) for request in requests]
        rests = [size - (common(requests[at - 1], requests[at]) if at else 0) for at, size in enumerate(sizes)]
        (root / "main.py").write_text(PROGRAM)
        questions = [
            question(toolbox, calls[at - 1], calls[at] if at < len(calls) else None) for at in range(1, len(sizes))
        ]
        settled = [at for at, (_, answered) in enumerate(questions, start=1) if answered]
        extra = sum(tokens for tokens, _ in questions)
        kept = [at for at in range(len(sizes)) if at not in settled]
        # a request after one that was saved is cached as far as the last one that was made
        late = sum(
            sizes[at] - (common(requests[kept[place - 1]], requests[at]) if place else 0)
            for place, at in enumerate(kept)
        )
        print(
            f"{f'{len(calls)} calls, {len(questions)} questions':34} {sum(sizes):8} {sum(rests):7}"
            f" {extra + sum(sizes[at] for at in kept):8} {extra + late:7}  {len(settled)}"
        )


def question(toolbox: Toolbox, before: Call, wanted: Call | None) -> tuple[int, bool]:
    """The tokens of the question after a call, and whether the next call can be told from what it shows."""
    result = toolbox.call(*before)
    data = result.data if isinstance(result.data, dict) else {}
    points = guided_decision_points(before[0], Narrowing(data=data, task_type="code_fix"))
    if not points:
        return 0, False
    model = ScriptedModel([json.dumps({"tool": "none", "arguments": []})], profile_name="gpt-oss-20b")
    settings = Settings()
    pool = ModelPool(settings, {}, Limits(), PoolOptions(models={"gpt-oss-20b": model}))
    asking = ToolQuestion("make total start at one", "", Asker(pool, PromptLibrary()), toolbox.spec)
    asyncio.run(decide_next(points[0], data, asking))
    if not model.requests:  # one tool alone can follow
        return 0, True
    text = model.requests[0].messages[-1].content
    fits = wanted is not None and wanted[0] in {each.name for each in points[0].candidate_tools}
    told = fits and wanted is not None and all(str(value) in text for value in wanted[1].values())
    return prompt_tokens(model.requests[0]), told


def common(first: ChatRequest, second: ChatRequest) -> int:
    """Tokens of the common beginning of two requests, tools first, in blocks of 128 as services count them."""
    pairs = zip(whole(first).encode(), whole(second).encode(), strict=False)
    length = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return int(length / BYTES_PER_TOKEN) // 128 * 128


def whole(request: ChatRequest) -> str:
    tools = [[spec.name, spec.description, dict(spec.parameters)] for spec in request.tools]
    messages = [
        [item.role, item.content, [[call.name, dict(call.arguments)] for call in item.tool_calls]]
        for item in request.messages
    ]
    return "\n".join(map(json.dumps, [*tools, *messages]))


# --- plans ------------------------------------------------------------------------------------------------------------


def plans(toolbox: Toolbox) -> None:
    specs = toolbox.specs(NAMES)
    count: Callable[[str], int] = estimate_tokens
    every = count(tool_lines(specs))
    print(f"{'the tools of a plan prompt':34} {'tokens':>7} of {every}")
    for kind in sorted(EVERY_TASK):
        tokens = count(tool_lines(specs, {tool.name for tool in ALL if kind in tool.task_types}))
        print(f"  {kind:32} {tokens:7} {tokens / every:6.3f}")


if __name__ == "__main__":
    raise SystemExit(main())
