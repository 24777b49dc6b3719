"""Requests, prompt bytes and calls of five standard jobs, in whole runs against a scripted service on this machine.

    python benchmarks/jobs.py [--check]

Each job is a directory, a task and the answers of the service. `bytes` is what the bodies of the requests hold:
messages, tool schemas and settings; `first` that of the first request alone. `--check` ends with 1 if a job does not
end well or takes more calls than its row says.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from codur.config.settings import Provider, Settings
from codur.events import ignore
from codur.session.host import Host
from codur.session.task_run import run_task
from codur.types import RunResult, Task

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.groq_server import GroqServer, ServerReply, calls, json_reply, text

SHOP = '''"""What a basket costs."""

from tax import with_tax


def total(prices, country):
    """The sum of the prices, tax included, rounded to cents."""
    return round(with_tax(sum(prices[1:]), country), 2)
'''
TAX = '''"""Taxes by country."""

RATES = {"de": 19, "fr": 20}


def with_tax(amount, country):
    """The amount with the country's tax."""
    return amount * (1 + RATES[country] / 100)
'''
TESTS = """from shop import total


def test_total():
    assert total([10, 20], "de") == 35.7


def test_no_prices():
    assert total([], "fr") == 0
"""
FILES = {"shop.py": SHOP, "tax.py": TAX, "test_shop.py": TESTS}
BY_HUNDRED = TAX.replace(" / 100", " / 10")
RIGHT_SHOP, RIGHT_TAX = SHOP.replace("prices[1:]", "prices"), TAX
NEW_TAX = TAX.replace("def with_tax", "def countries():\n    return sorted(RATES)\n\n\ndef with_tax")
NEW_TEST = "from tax import countries\n\n\ndef test_countries():\n    assert countries() == ['de', 'fr']\n"


def whole(**files: str) -> ServerReply:
    """Edits that replace whole files."""
    return calls(
        *(("replace_file_content", {"path": f"{name}.py", "content": content}) for name, content in files.items())
    )


def classified(action: str, task_type: str, *files: str) -> ServerReply:
    reply = {"reasoning": "So it is.", "task_type": task_type, "detected_files": files, "suggested_action": action}
    return json_reply({**reply, "confidence": 0.95, "capability": "", "arguments": [], "answer": ""})


def step(name: str, action: str, capability: str, **arguments: str) -> dict[str, object]:
    empty = {"objective": "", "expected_output": "", "success_criteria": "", "inputs": []}
    given = [{"name": key, "value": value} for key, value in arguments.items()]
    return {"id": name, "action": action, "capability": capability, **empty, "arguments": given}


PLAN = json_reply(
    {
        "reasoning": "Look, mend, say.",
        "steps": [
            step("read", "tool", "read_file", path="shop.py"),
            step("edit", "coding", "codur-coding"),
            step("say", "respond", "", text="The first price was left out."),
        ],
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task with its files, the answers that it gets in their order, and the calls that it may take."""

    prompt: str
    replies: Sequence[ServerReply]
    most_calls: int
    files: Mapping[str, str] = field(default_factory=lambda: FILES)


JOBS = {
    "small fix": Job(prompt="fix shop.py", replies=[whole(shop=RIGHT_SHOP)], most_calls=1),
    "two-file fix": Job(
        prompt="fix the totals in shop.py and tax.py",
        files={**FILES, "tax.py": BY_HUNDRED},
        replies=[whole(shop=RIGHT_SHOP, tax=RIGHT_TAX)],
        most_calls=1,
    ),
    "new function with tests": Job(
        prompt="add a function countries() to tax.py that gives the countries in order, and test_tax.py with its tests",
        files={**FILES, "shop.py": RIGHT_SHOP},
        replies=[
            classified("edit", "code_generation", "tax.py"),
            text(f"```python\n{NEW_TEST}```\n"),
            whole(tax=NEW_TAX, test_tax=NEW_TEST),
        ],
        most_calls=3,
    ),
    "question about a module": Job(
        prompt="how does shop.py find the tax?",
        replies=[
            classified("explain", "explanation", "shop.py"),
            calls(("read_file", {"path": "shop.py"})),
            text("With with_tax of tax.py."),
        ],
        most_calls=3,
    ),
    "plan of three steps": Job(
        prompt="read shop.py, fix what is wrong in it and tell me what it was",
        replies=[PLAN, whole(shop=RIGHT_SHOP)],
        most_calls=2,
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Requests and prompt bytes of five standard jobs.")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a job takes more calls than it may")
    check = parser.parse_args().check
    print(f"{'job':26} {'outcome':8} {'requests':>8} {'calls':>6} {'may':>4} {'bytes':>7} {'first':>6}")
    good = [measured(name, job) for name, job in JOBS.items()]
    return 1 if check and not all(good) else 0


def measured(name: str, job: Job) -> bool:
    """Carry out a job and print its row; whether it ended well within its calls."""
    result, sizes = carried_out(job)
    print(
        f"{name:26} {result.outcome:8} {len(sizes):8} {result.model_calls:6} {job.most_calls:4}"
        f" {sum(sizes):7} {next(iter(sizes), 0):6}",
        flush=True,
    )
    return result.outcome == "done" and result.model_calls <= job.most_calls


def carried_out(job: Job) -> tuple[RunResult, list[int]]:
    """How a job ended, and the bytes of each request."""
    with tempfile.TemporaryDirectory() as folder, GroqServer(job.replies) as server:
        for path, content in job.files.items():
            (Path(folder) / path).write_text(content)
        settings = Settings()
        service = Provider(api="groq", api_key_env="GROQ_API_KEY", base_url=server.url)
        settings = structs.replace(
            settings,
            providers={**settings.providers, "groq": service},
            repair=structs.replace(settings.repair, mode="off"),
        )
        host = Host(environ={"PATH": os.environ["PATH"], "GROQ_API_KEY": "gsk_none"}, home=Path("/nonexistent"))
        result = run_task(Task(prompt=job.prompt, workspace=folder), settings, host=host, emit=ignore)
        return result, [len(json.dumps(request.body, ensure_ascii=False).encode()) for request in server.requests]


if __name__ == "__main__":
    sys.exit(main())
