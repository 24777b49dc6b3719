"""What an offline search came to: how sure its repair is, and the other repairs that pass."""

from codur.patches import Distinction, Patch, RepairReport
from codur.ui.shown.diffs import diff_lines
from codur.ui.styled_lines import Line, clip, count, line

_INPUT_WIDTH = 60
_ANSWER_WIDTH = 40
_JUDGED = "the time was up before others that are as likely were judged"


def every_repair(report: RepairReport) -> list[Line]:
    """Give all repairs, numbered, each with its diff: what `codur repair --all` shows."""
    lines: list[Line] = []
    for number, patch in enumerate(report.patches, start=1):
        lines += [line("")] if lines else []
        lines.append(line((f"{number}. ", "strong"), patch.explanation))
        if patch.distinction is not None:
            lines.append(
                line(("   ", "dim"), _distinction_words(patch.distinction, first="repair 1", other="this one"))
            )
        lines += diff_lines(patch.diff)
    return lines


def search_lines(report: RepairReport) -> list[Line]:
    """Give what supports the repair that was taken, and what speaks for others."""
    if report.chosen < 0:
        return [line((_effort(report), "dim"))] if report.patches else []
    operators = ", ".join(report.patches[report.chosen].operators)
    by = {"model": "; the model chose it", "user": "; you chose it"}.get(report.chosen_by, "")
    first = f"; tried first: {report.hint}" if report.hint else ""
    lines = [line(("evidence: ", "dim"), f"{operators}; {_effort(report)}{by}{first}")]
    others = [patch for place, patch in enumerate(report.patches) if place != report.chosen]
    if report.tier == "guided" and others:
        lines.append(line(("not the only one: ", "warn"), _others(report, others)))
    elif not report.compared:
        lines.append(line(("hardly compared: ", "warn"), f"{_JUDGED}, and another may pass, too"))
    return lines


def _effort(report: RepairReport) -> str:
    whole = "all candidates" if report.complete else count(report.tried, "candidate")
    tried = f"{whole} ({report.tried:,})" if report.complete else whole
    return f"{tried} tried in {report.seconds:.1f} s, {report.passing:,} passed"


def _others(report: RepairReport, others: list[Patch]) -> str:
    one = len(others) == 1
    does = "passes behaves" if one else "pass behave"
    told = f"{count(len(others), 'other repair')} that {does} differently"
    found = next((patch.distinction for patch in others if patch.distinction is not None), None)
    if found is None or report.chosen:
        return f"{told}; `codur repair --all` shows them"
    return f"{told}: {_distinction_words(found, first='this one', other='another')}; `codur repair --all` shows them"


def _distinction_words(found: Distinction, *, first: str, other: str) -> str:
    given = clip(found.input.strip().replace("\n", "⏎"), width=_INPUT_WIDTH)
    return f"for `{given}` {first} gives {_answer(found.first)}, {other} {_answer(found.other)}"


def _answer(text: str) -> str:
    if text.startswith("!"):
        return text[1:]
    return f"`{clip(text.strip().replace(chr(10), '⏎'), width=_ANSWER_WIDTH)}`"
