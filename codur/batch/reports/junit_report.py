"""The results as JUnit XML, for continuous integration."""

from collections.abc import Collection
from typing import Final
from xml.etree import ElementTree as Xml

from codur.batch.reports.report_text import xml_text
from codur.batch.reports.totals import Totals, agent_name, totals_by_agent, totals_of
from codur.batch.results.challenge_record import ChallengeResult

_TAGS: Final = {"failed": "failure", "passes": "skipped"}


def junit_xml(results: Collection[ChallengeResult], *, title: str) -> bytes:
    """A suite for each agent with a test case for each result, as UTF-8; characters that XML cannot hold are replaced.

    What was not solved is a failure; what passed before is skipped; what could not be worked on, or met a limit, is
    an error.
    """
    root = Xml.Element("testsuites", {"name": xml_text(title), **_sums(totals_of(results))})
    several = any(item.attempt > 1 for item in results)
    for agent, totals in totals_by_agent(results).items():
        skipped = str(totals.by_status["passes"])
        suite = Xml.SubElement(root, "testsuite", {"name": xml_text(agent), "skipped": skipped, **_sums(totals)})
        for item in results:
            if agent_name(item) == agent:
                _case(suite, item, agent, several=several)
    Xml.indent(root)
    document: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _sums(totals: Totals) -> dict[str, str]:
    return {
        "tests": str(totals.results),
        "failures": str(totals.by_status["failed"]),
        "errors": str(totals.by_status["error"] + totals.by_status["limit"]),
        "time": f"{totals.seconds:.3f}",
    }


def _case(suite: Xml.Element, item: ChallengeResult, agent: str, *, several: bool) -> None:
    name = f"{item.name} (attempt {item.attempt})" if several else item.name
    told = {"classname": agent, "name": name, "file": item.directory, "time": f"{item.seconds:.3f}"}
    case = Xml.SubElement(suite, "testcase", {key: xml_text(value) for key, value in told.items()})
    if not item.solved:
        tag = _TAGS.get(item.status, "error")
        problem = Xml.SubElement(case, tag, {"message": xml_text(item.reason), "type": item.status})
        problem.text = xml_text("\n".join(part for part in (item.reason, item.check, item.output_after) if part))
    if said := "\n".join(part for part in (item.explanation, *item.notes) if part):
        Xml.SubElement(case, "system-out").text = xml_text(said)
