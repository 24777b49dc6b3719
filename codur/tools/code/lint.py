"""Linting Python with ruff, where it is installed."""

import json
from pathlib import Path
from typing import Annotated, Any

from codur.tools.code.definitions import parse
from codur.tools.flow.code_outputs import Finding, Findings
from codur.tools.tool import Arg, ToolContext, ToolError, tool
from codur.types import ToolResult
from codur.workspace.problems import FileError

_MAX_FILES = 2_000
_MAX_SHOWN = 200
_MAX_OUTPUT = 8_000_000
_NO_RUFF = "ruff is not installed, so only the syntax was checked"


@tool(Findings)
def lint_python(
    context: ToolContext,
    path: Annotated[str, Arg("Python file or directory; the workspace if left out.", "python_path", "directory")] = "",
) -> ToolResult:
    """Find likely mistakes in Python files with ruff; nothing is run or changed."""
    workspace = context.workspace
    if not workspace.resolve(path).exists():
        raise ToolError("not_found", f"there is no file or directory {path}")
    if workspace.is_file(path):
        workspace.require_readable(path)
        paths = [workspace.relative(path)]
    else:
        listed = workspace.list_files(path, pattern="*.py", limit=_MAX_FILES)
        paths = [path for path in listed if not workspace.hides(path)]
    if not paths:
        raise ToolError("not_found", f"there are no Python files in {path or 'the workspace'}")
    program = context.launcher.find("ruff", outside=workspace.root)
    found = _by_parser(context, paths) if program is None else _by_ruff(context, program, paths)
    lines = [f"{item.path}:{item.line}:{item.column}: {item.code} {item.text}" for item in found[:_MAX_SHOWN]]
    if len(found) > _MAX_SHOWN:
        lines.append(f"… {len(found) - _MAX_SHOWN} more")
    nothing = "nothing found" if program is not None else "no error of syntax"
    lines += [] if lines else [f"{nothing} in {len(paths)} {'file' if len(paths) == 1 else 'files'}"]
    lines += [_NO_RUFF] if program is None else []
    by = "python" if program is None else "ruff"
    return ToolResult(
        text="\n".join(lines), data=Findings(paths=tuple(paths), findings=tuple(found[:_MAX_SHOWN]), by=by)
    )


def _by_ruff(context: ToolContext, program: str, paths: list[str]) -> list[Finding]:
    root = context.workspace.root
    outcome = context.launcher.run(
        [program, "check", "--output-format=json", "--no-cache", "--no-fix", "--exit-zero", "--quiet", "--"]
        + [f"./{path}" for path in paths],
        cwd=root,
        root=Path("/"),
        readable=(root,),
        timeout_s=context.timeout_s,
        max_output_bytes=_MAX_OUTPUT,
    )
    if outcome.timed_out:
        raise ToolError("timeout", f"ruff ran longer than {context.timeout_s:g} s")
    if outcome.exit_status != 0 or outcome.truncated:
        reason = " ".join(outcome.stderr.split())[:300] or "its output is too long"
        raise ToolError("failed", f"ruff could not check the files: {reason}")
    items: list[dict[str, Any]] = json.loads(outcome.stdout)
    found = [
        Finding(
            path=str(item["filename"]).removeprefix(f"{root}/"),
            line=item["location"]["row"],
            column=item["location"]["column"],
            code=item["code"] or "syntax",
            text=item["message"],
        )
        for item in items
    ]
    return sorted(found, key=lambda item: (item.path, item.line, item.column))


def _by_parser(context: ToolContext, paths: list[str]) -> list[Finding]:
    found = []
    for path in paths:
        try:
            parse(path, context.workspace.peek_text(path))
        except FileError:
            if len(paths) == 1:
                raise
        except ToolError as error:
            cause = error.__cause__
            line, column = (cause.lineno or 1, cause.offset or 1) if isinstance(cause, SyntaxError) else (1, 1)
            text = cause.msg if isinstance(cause, SyntaxError) else error.message
            found.append(Finding(path=path, line=line, column=column, code="syntax", text=text))
    return found


TOOLS = (lint_python,)
