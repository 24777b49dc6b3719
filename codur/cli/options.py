"""What several commands take. Light: `codur --help` loads no more than this."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codur import cli
from codur.config.tool_names import TOOL_NAMES
from codur.errors import CodurError, UsageError, reason_of

if TYPE_CHECKING:
    from codur.config.settings import Settings

MAX_PROMPT_CHARS = 1_000_000
MAX_HINT_CHARS = 2_000


# --- what a shell completes values to ---------------------------------------------------------------------------------


def run_ids(incomplete: str) -> list[str]:
    """The ids of runs that begin so, of the current directory."""
    return _beginning(cli.project_names.run_ids(Path()), incomplete)


def profiles(incomplete: str) -> list[str]:
    """The names of model profiles that begin so."""
    return _beginning(_settings().llm.profiles, incomplete)


def agents(incomplete: str) -> list[str]:
    """The names of agents, and of profiles after `llm:`, that begin so."""
    return _beginning(cli.project_names.agent_names(_settings()), incomplete)


def tools(incomplete: str) -> list[str]:
    """The names of tools that begin so."""
    return _beginning(sorted(TOOL_NAMES), incomplete)


def _settings() -> Settings:
    try:
        return cli.machine.settings_for(Path(), None, {}).settings
    except CodurError:  # a shell has no use for an error
        return cli.machine.settings_for(None, None, {}).settings


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


# --- options ----------------------------------------------------------------------------------------------------------

RunId = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN", help="Id of a run, or its beginning (see `codur runs`), or `last`.", autocompletion=run_ids
    ),
]
RunIds = Annotated[
    list[str] | None,
    typer.Argument(metavar="[RUN]...", help="Ids of runs, or their beginnings, or `last`.", autocompletion=run_ids),
]
Directory = Annotated[
    Path, typer.Option("--directory", "-C", metavar="DIR", help="Work in DIR instead of the current directory.")
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Settings file, in place of the user's own.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also show decisions, model requests and tools.")]
PromptFile = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the task from FILE (`-`: standard input).")
]
CheckCommand = Annotated[
    str | None,
    typer.Option("--check", metavar="CMD", help="Shell command that must exit with 0 when the task is done."),
]
ExpectFile = Annotated[
    str | None, typer.Option("--expect", metavar="FILE", help="File with the output that the program must print.")
]
Hint = Annotated[
    str | None,
    typer.Option("--hint", metavar="TEXT", help="What you think is wrong, and where: it is tried first."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Ask no model.")]
AgentName = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="NAME",
        help="Agent or llm:PROFILE to work with (see `codur agents`).",
        autocompletion=agents,
    ),
]
MaxCalls = Annotated[int | None, typer.Option("--max-llm-calls", min=0, metavar="N", help="Model calls at most.")]
MaxIterations = Annotated[int | None, typer.Option("--max-iterations", min=1, metavar="N", help="Attempts at most.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=0, metavar="N", help="Tokens at most, all calls.")]
Timeout = Annotated[float | None, typer.Option("--timeout", min=0.1, metavar="S", help="Seconds at most.")]
Budget = Annotated[float | None, typer.Option("--budget", min=0.0, metavar="USD", help="Dollars at most.")]
Samples = Annotated[
    str | None,
    typer.Option("--samples", metavar="K", help="Answers asked for side by side and judged by the check; or `auto`."),
]

Scope = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="GLOB", help="Only files that match GLOB may change (can be repeated)."),
]
MaxFiles = Annotated[int | None, typer.Option("--max-files", min=1, metavar="N", help="Files that may change at most.")]

NoSandbox = Annotated[bool, typer.Option("--no-sandbox", help="Run programs with your own permissions.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait while another run works in the directory.")]
ShowPlan = Annotated[bool, typer.Option("--plan", help="Show the plan and ask before it is carried out.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Approve of any plan, and of a test, beforehand.")]
KeepTest = Annotated[
    bool, typer.Option("--keep-test", help="Keep the test that was made for the task, if there was one.")
]
MayEditTests = Annotated[
    bool, typer.Option("--may-edit-tests", help="The tests that judge the task may be changed, too.")
]
PlanFile = Annotated[
    Path | None, typer.Option("--plan-file", metavar="FILE", help="Carry out the plan in FILE (see `codur plan`).")
]
JsonStream = Annotated[bool, typer.Option("--json-stream", help="Print each event as a JSON line.")]
Raw = Annotated[bool, typer.Option("--raw", help="Print only the answer, or only the diff.")]
RecordFile = Annotated[
    Path | None, typer.Option("--record", metavar="FILE", help="Store the exchange with models in FILE, for --replay.")
]
ReplayFile = Annotated[
    Path | None, typer.Option("--replay", metavar="FILE", help="Answer from a recorded FILE; needs no key, no network.")
]
ShowPrompts = Annotated[bool, typer.Option("--show-prompts", help="Show each request to a model as it is sent.")]
ExplainRoute = Annotated[bool, typer.Option("--explain-route", help="At the end, show each decision and who took it.")]


def group() -> typer.Typer:
    """A group of commands, which shows its help if none of them is called."""
    made = typer.Typer(rich_markup_mode=None, invoke_without_command=True)

    @made.callback()
    def show_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return made


def overrides(
    *,
    no_sandbox: bool,
    scope: Sequence[str] | None = None,
    max_files: int | None = None,
    samples: str | None = None,
    **limits: float | None,
) -> dict[str, dict[str, Any]]:
    """The settings that options stand for; `limits` are of `runtime`, under their own names."""
    answers = int(samples) if samples and samples.isdecimal() and len(samples) < 9 else samples
    given: dict[str, dict[str, Any]] = {
        "runtime": limits,
        "sandbox": {"backend": "none" if no_sandbox else None},
        "agents": {"coding": None if samples is None else {"samples": answers}},
        "scope": {"allow": list(scope) if scope else None, "max_files": max_files},
    }
    named = {group: {key: value for key, value in keys.items() if value is not None} for group, keys in given.items()}
    return {group: keys for group, keys in named.items() if keys}


def read_check(command: str | None) -> str | None:
    """The check command; None if none was given. Raises UsageError: it is empty."""
    if command is not None and not command.strip():
        raise UsageError("the command of --check is empty", remedy="Give a shell command, or leave the option out.")
    return command


def read_hint(hint: str | None) -> str:
    """The text of `--hint`; empty if none was given. Raises UsageError: it is empty, or longer than anyone says it."""
    if hint is not None and not 0 < len(hint.strip()) <= MAX_HINT_CHARS:
        raise UsageError(
            f"the text of --hint is {'too long' if hint.strip() else 'empty'}",
            remedy='Say in a sentence what may be wrong, for example: --hint "off by one in total"',
        )
    return hint or ""


def read_prompt(words: list[str] | None, file: Path | None) -> str:
    """The task: the words, or the text of a file, or of standard input for `-`.

    Raises:
        UsageError: there is none, or more than one, or it cannot be read.
    """
    if words and file is not None:
        raise UsageError("the task was given twice: as words and with --file", remedy="Leave one of the two out.")
    if words == ["-"] or str(file) == "-":
        text = _decoded(sys.stdin.buffer.read(MAX_PROMPT_CHARS * 4 + 1), "standard input")
    elif file is not None:
        text = _decoded(_read(file), str(file))
    else:
        text = " ".join(words or [])
    if not text.strip():
        raise UsageError("the task is empty", remedy='Say what to do, for example: codur "fix main.py"')
    if len(text) > MAX_PROMPT_CHARS:
        raise UsageError(
            f"the task is too long: at most {MAX_PROMPT_CHARS:,} characters are read",
            remedy="Put long material into a file of the workspace and name it in the task.",
        )
    return text


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_PROMPT_CHARS * 4 + 1)
    except OSError as error:
        remedy = "Check the path given with --file."
        raise UsageError(f"{file}: cannot be read: {reason_of(error)}", remedy=remedy) from error


def _decoded(data: bytes, name: str) -> str:
    try:
        if b"\0" in data:
            raise UnicodeDecodeError("utf-8", data, 0, 1, "NUL")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(data) > MAX_PROMPT_CHARS:  # cut in the middle of a character
            return data.decode("utf-8", errors="ignore")
        raise UsageError(f"{name}: is not text in UTF-8", remedy="Give the task as plain UTF-8 text.") from error
