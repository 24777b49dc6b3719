"""The results as JUnit XML, for continuous integration."""

from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as Xml

from codur.batch.reports.comparison import agent_name
from codur.batch.reports.report_text import xml_text
from codur.batch.results.challenge_record import ChallengeResult

_TAGS: Final = {"failed": "failure", "passes": "skipped"}


def junit_xml(results: Sequence[ChallengeResult], *, title: str) -> bytes:
    """A suite for each agent with a test case for each result, as UTF-8; characters that XML cannot hold are replaced.

    What was not solved is a failure; what passed before is skipped; what could not be worked on, or met a limit, is
    an error.
    """
    root = Xml.Element("testsuites", {"name": xml_text(title), **_sums(results)})
    several = any(item.attempt > 1 for item in results)
    for agent in sorted({agent_name(item) for item in results}):
        own = [item for item in results if agent_name(item) == agent]
        skipped = str(sum(item.status == "passes" for item in own))
        suite = Xml.SubElement(root, "testsuite", {"name": xml_text(agent), "skipped": skipped, **_sums(own)})
        for item in own:
            _case(suite, item, agent, several=several)
    Xml.indent(root)
    document: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _sums(results: Sequence[ChallengeResult]) -> dict[str, str]:
    statuses = [item.status for item in results]
    return {
        "tests": str(len(statuses)),
        "failures": str(statuses.count("failed")),
        "errors": str(statuses.count("error") + statuses.count("limit")),
        "time": f"{sum(item.seconds for item in results):.3f}",
    }


def _case(suite: Xml.Element, item: ChallengeResult, agent: str, *, several: bool) -> None:
    name = f"{item.name} (attempt {item.attempt})" if several else item.name
    case = Xml.SubElement(
        suite, "testcase", {"classname": xml_text(agent), "name": xml_text(name), "time": f"{item.seconds:.3f}"}
    )
    if not item.solved:
        tag = _TAGS.get(item.status, "error")
        problem = Xml.SubElement(case, tag, {"message": xml_text(item.reason), "type": item.status})
        problem.text = xml_text("\n".join(part for part in (item.reason, item.check, item.output_after) if part))
    told = "\n".join(part for part in (item.explanation, *item.notes) if part)
    if told:
        Xml.SubElement(case, "system-out").text = xml_text(told)
