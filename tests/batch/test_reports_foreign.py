"""Texts of challenges stay texts, whatever they are."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codur.batch.reports.junit_report import junit_xml
from codur.batch.reports.markdown import markdown
from codur.batch.reports.page import MAX_DATA_BYTES, page
from codur.batch.reports.report_text import encodable, markdown_cell, visible, xml_text
from tests.batch.report_kit import HOSTILE, data_of, elements, failed, hostile, solved, strings, text_of

EMPTY = "".join(page([], title="t"))
TEXT = st.text(st.one_of(st.sampled_from('<>/"&\\|`!-\n\r\x00\u2028\ud800{}'), st.characters()), max_size=60)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_page_has_the_elements_of_its_template_alone(text: str) -> None:
    html = "".join(page([hostile(text), hostile(text, status="solved")], title=text))
    assert elements(html) == elements(EMPTY)
    assert text_of(html, "title") == visible(text)


@settings(max_examples=60, deadline=None)
@given(TEXT)
@example("</ScRiPt ><script>")
def test_any_text_comes_back_from_the_page_as_it_was(text: str) -> None:
    html = "".join(page([hostile(text)], title=text))
    assert elements(html) == elements(EMPTY)
    (row,) = data_of(html)["rows"]
    told = encodable(text)
    assert row["name"] == row["prompt"] == row["output_after"] == row["notes"][0] == row["route"][0]["reason"] == told
    assert row["agent"] == (told or "default")


def test_the_data_holds_nothing_that_ends_its_block() -> None:
    html = "".join(page([hostile(text) for text in HOSTILE], title="t"))
    block = html.split('id="data">', 1)[1].split("</script>", 1)[0]
    assert not set("<>&\u2028\u2029").intersection(block)
    assert len([text for text in strings(data_of(html)) if text.startswith("</script>")]) > 10


@settings(max_examples=60, deadline=None)
@given(TEXT)
@example(HOSTILE[4])
@example(HOSTILE[5])
def test_no_text_breaks_a_markdown_table(text: str) -> None:
    table = "".join(markdown([hostile(text)], title=text)).encode().decode()
    (heading, *_), rows = table.split("\n"), table.partition("## Results\n\n")[2].rstrip("\n").split("\n")
    assert heading.startswith("# ")
    assert [len(re.split(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows] == [10, 10, 10]
    assert not re.search(r"<\w", table)


@settings(max_examples=60, deadline=None)
@given(TEXT)
@example(HOSTILE[3])
@example(HOSTILE[6])
@example(HOSTILE[8])
def test_any_text_makes_valid_junit(text: str) -> None:
    root = Xml.fromstring(junit_xml([hostile(text)], title=text))
    (case,) = root.iter("testcase")
    assert case.get("name") == xml_text(text)
    assert [child.tag for child in case] == ["failure", *(["system-out"] if text else [])]


def test_cells_are_bounded_and_show_what_cannot_be_seen() -> None:
    assert markdown_cell("a\u202eb\x1b[0m\n\n c") == "a(U+202E)b(U+001B)\\[0m c"
    assert markdown_cell("x" * 300) == "x" * 199 + "…"


def test_a_thousand_rows_with_long_outputs_stay_below_five_megabytes() -> None:
    rows = [
        solved(f"challenge {number}", diff="<&>\n" * 25_000, output_before="é" * 8_000, output_after="x" * 8_000)
        for number in range(1_000)
    ]
    size = len("".join(page(rows, title="t")).encode())
    assert MAX_DATA_BYTES // 3 < size < 5_000_000


def test_short_texts_are_kept_whole_beside_long_ones() -> None:
    rows = [solved("long", diff="x" * 100_000), solved("short", diff="a short one", output_before="b" * 8_000)]
    long, short = data_of("".join(page(rows, title="t")))["rows"]
    assert (short["diff"], short["output_before"]) == ("a short one", "b" * 8_000)
    assert "left out" in long["diff"]


def test_long_lists_of_a_result_are_cut() -> None:
    found = failed("a", changed_files=tuple(f"{number}.py" for number in range(500)))
    assert len(data_of("".join(page([found], title="t")))["rows"][0]["changed_files"]) < 100
