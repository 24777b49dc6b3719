"""The files that a model-backed step sees."""

from __future__ import annotations

from codur.errors import WorkspaceError
from codur.nodes.state import RunContext, RunState
from codur.types import Step

_NOT_SHOWN = ("challenge.yaml", "args.txt")
"""Files whose content the check's command line says already."""


def readable(state: RunState, step: Step, context: RunContext) -> dict[str, str]:
    """Present text by path: the step's own file first, then the discovered files, then what the check reads."""
    check = state["discovery"].check
    wanted = [str(step.arguments.get("path", "")), *state["discovery"].files]
    told_elsewhere = set(_NOT_SHOWN)
    if check is not None:
        wanted += check.protected
        told_elsewhere.add(check.expected_file or "")
    texts: dict[str, str] = {}
    for path in wanted:
        if path and path not in texts and path not in told_elsewhere and context.workspace.is_file(path):
            text = _text(path, context)
            if text is not None:
                texts[path] = text
    return texts


def target(state: RunState, step: Step, texts: dict[str, str], context: RunContext) -> str | None:
    """The one file that an edit without a path means: the step's, else the only one that may change, else None."""
    named = str(step.arguments.get("path", ""))
    if named:
        return named
    writable = [path for path in texts if context.workspace.may_edit(path)]
    if len(writable) == 1:
        return writable[0]
    missing = state["discovery"].missing_files
    return missing[0] if not writable and len(missing) == 1 else None


def inputs(state: RunState, step: Step, context: RunContext) -> dict[str, str]:
    """Outputs of the earlier steps that this step names, with what was read beside them."""
    names = [name for item in step.inputs for name in (item, f"{item}.dependencies")]
    return {name: context.artifacts.get(state["outputs"][name]) for name in names if name in state["outputs"]}


def _text(path: str, context: RunContext) -> str | None:
    """The file's text; None if it holds no text (such a file is of no use to a model)."""
    try:
        return context.workspace.read_text(path).text
    except WorkspaceError:
        return None
