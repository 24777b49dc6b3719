"""A run as one HTML page that needs nothing else: the graph with the way taken, and each step with all it told.

Nothing in it runs: steps unfold by themselves, and its content security policy allows its own style and no more.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from codur.events import CheckRan, Event, FileChanged, ModelAnswered, ModelPrompted
from codur.structs import replace
from codur.types import Verdict
from codur.ui.sanitise import sanitise
from codur.ui.shown.diffs import diff_lines
from codur.ui.shown.picture import graph_svg
from codur.ui.shown.progress_lines import Narrator
from codur.ui.shown.run_list import KeptRun, result_of, run_head, state_of
from codur.ui.shown.run_report import body_lines, summary_lines
from codur.ui.shown.run_tree import TracedNode, traced_nodes
from codur.ui.styled_lines import Line, count

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{style_hash}'; \
base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{head}
<h2>Steps</h2>
{steps}
<h2>Result</h2>
{result}
<h2>The way taken</h2>
<figure>{graph}</figure>
</body>
</html>
"""


def trace_page(run: KeptRun, edges: Mapping[str, Sequence[str]]) -> str:
    """The whole page; edges: where each node of the graph may go, `start` and `end` among them."""
    record, nodes = run.record, traced_nodes(run.trace)
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    narrator = Narrator(verbose=True)
    steps = "\n".join(_step(node, narrator) for node in nodes)
    # How often each edge of the graph was taken
    names = ["start", *(node.name for node in nodes if node.name)]
    last = nodes[-1].decided if nodes else None
    names += ["end"] if last is not None and last.route == "end" else []
    taken: dict[tuple[str, str], int] = {}
    for link in pairwise(names):
        taken[link] = taken.get(link, 0) + 1
    return _PAGE.format(
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        title=_text(f"{state_of(record)}: {' '.join(record.prompt.split())[:200]}"),
        style=style,
        head=_paragraphs(run_head(record, run.undone)),
        steps=steps or "<p>none were kept</p>",
        result=_result(run.result, narrator),
        graph=graph_svg(edges, way=taken),
    )


def _step(node: TracedNode, narrator: Narrator) -> str:
    events: list[Event] = [*node.events, *([node.decided] if node.decided else [])]
    told = "\n".join(filter(None, (_event(event, narrator) for event in events)))
    told += _paragraphs(narrator.rest())
    if not node.name:
        return told
    title = f'<span class="strong">{_text(node.name)}</span> <span class="dim">{_text(node.title)}</span>'
    return f"<details><summary>{title}</summary>\n{told}\n</details>"


def _event(event: Event, narrator: Narrator) -> str:
    match event:
        case ModelPrompted():
            size = count(len(event.text), "character")
            return _folded(f"prompt to {event.profile} ({event.model}), {event.purpose}, {size}", event.text)
        case ModelAnswered() if event.text:
            return _folded(narrator.lines(event)[0].text, event.text)
        case FileChanged():
            shown = _paragraphs(narrator.lines(replace(event, diff="")))
            return shown + (_block(diff_lines(event.diff)) if event.diff else "")
        case CheckRan():
            return _paragraphs(narrator.lines(event)) + _verdict(event.verdict)
        case _:
            return _paragraphs(narrator.lines(event))


def _verdict(verdict: Verdict) -> str:
    texts = (("expected", verdict.expected), ("got", verdict.actual), ("error", verdict.error))
    return "".join(_folded(name, text) for name, text in texts if text)


def _result(result: Mapping[str, Any] | None, narrator: Narrator) -> str:
    if result is None:
        return "<p>it never came to one</p>"
    ended = result_of(result)
    body = body_lines(ended, limit=None)
    return (_block(body) if body else "") + _paragraphs(summary_lines(ended, told=narrator.told))


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{_text(title)}</summary><pre>{_text(text)}</pre></details>"


def _block(lines: Iterable[Line]) -> str:
    return "<pre>" + "\n".join(map(_styled, lines)) + "</pre>"


def _paragraphs(lines: Iterable[Line]) -> str:
    return "".join(f"<p>{_styled(item)}</p>" for item in lines if item.text)


def _styled(item: Line) -> str:
    return "".join(f'<span class="{span.style}">{escape(span.text)}</span>' for span in item.spans)


def _text(text: str) -> str:
    return escape(sanitise(text))
