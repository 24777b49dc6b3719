"""Reports of a batch: Markdown tables, one HTML page, JUnit XML."""

from collections.abc import Sequence
from pathlib import Path

from codur.batch.reports.junit_report import junit_xml
from codur.batch.reports.markdown import markdown
from codur.batch.reports.page import page
from codur.batch.reports.report_text import encodable
from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.results.results_directory import MARKDOWN_FILE, PAGE_FILE
from codur.store.atomic import write_whole


def write_reports(
    results_dir: Path, results: Sequence[ChallengeResult], *, title: str, junit: Path | None = None
) -> list[Path]:
    """Write the reports of a batch; what was there before is replaced as a whole.

    They depend on the results alone, whatever their order: the same results give the same bytes.

    Args:
        results_dir: gets report.md and report.html; it is made if it is not there.
        results: what they are about.
        title: their heading.
        junit: where to write JUnit XML, if at all.

    Returns:
        The files written.

    Raises:
        OSError: a file cannot be written.
    """
    ordered = sorted(results, key=lambda item: (item.name, item.agent, item.attempt, item.key))
    written = [
        _written(results_dir / MARKDOWN_FILE, encodable(markdown(ordered, title=title)).encode()),
        _written(results_dir / PAGE_FILE, page(ordered, title=title).encode()),
    ]
    if junit is not None:
        written.append(_written(junit, junit_xml(ordered, title=title)))
    return written


def _written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # a pipe or a device is written to, not replaced
        path.write_bytes(data)
        return path
    write_whole(path, data, durable=False)
    return path
