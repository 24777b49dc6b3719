"""Reports of a batch: Markdown tables, one HTML page, JUnit XML."""

from collections.abc import Collection, Iterable
from pathlib import Path

from codur.batch.reports.junit_report import junit_xml
from codur.batch.reports.markdown import markdown
from codur.batch.reports.page import page
from codur.batch.reports.report_text import encodable
from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.results.results_directory import MARKDOWN_FILE, PAGE_FILE
from codur.store.atomic import write_whole


def write_reports(
    results_dir: Path, results: Collection[ChallengeResult], *, title: str, junit: Path | None = None
) -> list[Path]:
    """Write the reports of a batch; what was there before is replaced as a whole.

    Args:
        results_dir: gets report.md and report.html; it is made if it is not there.
        results: what they are about, in the order in which it is shown. They are gone through more than once, and not
            held: a batch may have more of them than memory has room for.
        title: their heading.
        junit: where to write JUnit XML, if at all.

    Returns:
        The files written.

    Raises:
        OSError: a file cannot be written.
    """
    written = [
        _written(results_dir / MARKDOWN_FILE, (encodable(part).encode() for part in markdown(results, title=title))),
        _written(results_dir / PAGE_FILE, (part.encode() for part in page(results, title=title))),
    ]
    if junit is not None:
        written.append(_written(junit, [junit_xml(results, title=title)]))
    return written


def _written(path: Path, data: Iterable[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # a pipe or a device is written to, not replaced
        with path.open("wb") as stream:
            stream.writelines(data)
        return path
    write_whole(path, data, durable=False)
    return path
