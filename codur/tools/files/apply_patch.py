"""The tool that applies a unified diff: all of it or nothing."""

from typing import Annotated

from codur.tools.code.definitions import PYTHON_SUFFIXES, parse
from codur.tools.code.new_code import without_fence
from codur.tools.files.patch_text import FilePatch, Hunk, read_patch
from codur.tools.flow.outputs import Edit, Edits
from codur.tools.tool import WRITING_TASKS, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult

_MAX_FILES = 100
_MAX_FUZZ = 2


@tool(Edits, side_effect="write", task_types=WRITING_TASKS)
def apply_patch(
    context: ToolContext,
    patch: Annotated[
        str, Arg("Unified diff as git diff or diff -u writes it, paths relative to the workspace.", "diff")
    ],
) -> ToolResult:
    """Apply a unified diff that changes, makes, deletes or renames files: all of it or nothing.

    A hunk goes to where its old lines are, if that is one place.
    """
    patches = read_patch(without_fence(patch))
    if len(patches) > _MAX_FILES:
        raise ToolError("too_large", f"the patch has more than {_MAX_FILES} files")
    planned: dict[str, str | None] = {}
    edits: dict[str, Edit] = {}
    for file in patches:
        _plan(context, file, planned, edits)
    context.write_all(planned)
    lines = [f"{edit.action} {path}" for path, edit in edits.items()]
    return ToolResult(text="\n".join(lines), data=Edits(edits=tuple(edits.values())), changed_files=tuple(edits))


def _plan(context: ToolContext, patch: FilePatch, planned: dict[str, str | None], edits: dict[str, Edit]) -> None:
    """Work out what one file will be; nothing is written yet."""
    workspace = context.workspace
    source = workspace.relative(patch.source) if patch.source else None
    target = workspace.relative(patch.target) if patch.target else None
    if source and target != source and target and workspace.exists(target) and not workspace.exists(source):
        source = target
    if (source or target) in planned or (target in planned):
        raise ToolError("invalid", f"the patch has {target or source} twice")
    if target and target != source and workspace.exists(target):
        raise ToolError("refused", f"{target} exists already, and the patch would make it")
    if source and target and source != target and target.endswith(".ipynb"):
        raise ToolError("invalid", "move the notebook with move_file, which keeps its outputs, and edit it then")
    before = workspace.read_text(source).text if source else ""
    after = patched(source or target or "", before, patch.hunks)
    if target is None:
        if after:
            raise ToolError("no_match", f"{source} has more text than the patch deletes")
        planned[str(source)] = None
        edits[str(source)] = Edit(path=str(source), action="deleted")
        return
    if target.endswith(PYTHON_SUFFIXES):
        _require_python(target, before, after)
    planned[target] = after
    edits[target] = Edit(path=target, action="changed" if source == target else "made", count=len(patch.hunks))
    if source and source != target:
        planned[source] = None
        edits[source] = Edit(path=source, action="deleted")


def _require_python(path: str, before: str, after: str) -> None:
    """Refuse a result that does not parse, unless the file did not either."""
    try:
        parse(path, after)
    except ToolError as error:
        try:
            parse(path, before)
        except ToolError:
            return
        raise ToolError("syntax_error", f"the patch was refused, since {error.message}") from error


def patched(path: str, text: str, hunks: tuple[Hunk, ...]) -> str:
    """The text with the hunks applied in their order.

    Raises:
        ToolError: `no_match` or `many_matches`: a hunk's place cannot be told.
    """
    ended = text.endswith("\n") or not text
    lines = text.removesuffix("\n").split("\n") if text else []
    shift = done = 0
    for number, hunk in enumerate(hunks, start=1):
        old, new = hunk.old, hunk.new
        # A hunk without old lines names the line after which it adds.
        base = hunk.start - 1 if old else hunk.start
        place, cut_top, cut_end = _place(lines, hunk, base + shift, done, f"hunk {number} of {path}")
        old, new = old[cut_top : len(old) - cut_end], new[cut_top : len(new) - cut_end]
        at_end = place + len(old) == len(lines)
        lines[place : place + len(old)] = new
        shift = place - base - cut_top + len(new) - len(old)
        done = place + len(new)
        if at_end and not cut_end and (hunk.open_old or hunk.open_new):
            ended = not hunk.open_new
    return "\n".join(lines) + ("\n" if lines and ended else "")


def _place(lines: list[str], hunk: Hunk, stated: int, done: int, name: str) -> tuple[int, int, int]:
    """Where the hunk's old lines are, and how many lines of context were left out above and below to find them."""
    old = hunk.old
    if not old:
        if not done <= stated <= len(lines):
            raise ToolError("no_match", f"{name} adds after line {stated}, but there are {len(lines)}")
        return stated, 0, 0
    for cut_top, cut_end in _cuts(hunk):
        wanted = old[cut_top : len(old) - cut_end]
        found = [at for at in range(done, len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted]
        # Its own line number decides only among places where all of its context fits: models count lines wrongly.
        if stated in found and not cut_top and not cut_end:
            return stated, 0, 0
        if len(found) > 1:
            places = ", ".join(str(at + 1) for at in found[:8])
            raise ToolError("many_matches", f"{name} fits at lines {places}; give more context")
        if found:
            return found[0], cut_top, cut_end
    shown = next((line for line in old if line.strip()), "").strip()
    raise ToolError("no_match", f"{name} does not fit: its old lines are not there ({shown:.80})")


def _cuts(hunk: Hunk) -> list[tuple[int, int]]:
    """How many lines of context may be left out above and below, fewest first; some context always stays."""
    marks = [line[0] for line in hunk.lines]
    top = next(index for index, mark in enumerate(marks) if mark != " ")
    end = next(index for index, mark in enumerate(reversed(marks)) if mark != " ")
    every = [(above, below) for above in range(_MAX_FUZZ + 1) for below in range(_MAX_FUZZ + 1)]
    return sorted([cut for cut in every if cut[0] <= top and cut[1] <= end and sum(cut) < max(top + end, 1)], key=sum)


TOOLS = (apply_patch,)
