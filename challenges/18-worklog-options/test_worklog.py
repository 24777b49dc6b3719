import sys

import pytest

import worklog

ENTRIES = """\
2024-09-02 Anouk   museum      3.50 h
2024-09-02 Bruno   harbour     2.25 h
2024-09-02 Anouk   harbour     0.75 h
2024-09-03 Bruno   garden      3.00 h
2024-09-03 Anouk   admin       0.75 h
2024-09-03 Bruno   archive     3.50 h
2024-09-04 Anouk   museum      2.50 h
2024-09-04 Bruno   admin       1.50 h
total        17.75 h (8)
"""

BY_PROJECT = """\
museum        6.00 h (2)
archive       3.50 h (1)
garden        3.00 h (1)
harbour       3.00 h (2)
admin         2.25 h (2)
total        17.75 h (8)
"""

BY_DAY = """\
2024-09-03    7.25 h (3)
2024-09-02    6.50 h (3)
2024-09-04    4.00 h (2)
total        17.75 h (8)
"""

LONG_PROJECTS = """\
museum        6.00 h (2)
archive       3.50 h (1)
garden        3.00 h (1)
harbour       3.00 h (2)
total        17.75 h (8)
"""

LONG_ENTRIES_OF_BRUNO = """\
2024-09-02 Bruno   harbour     2.25 h
2024-09-03 Bruno   garden      3.00 h
2024-09-03 Bruno   archive     3.50 h
total        10.25 h (4)
"""

ANOUK_BY_PERSON = """\
Anouk         7.50 h (4)
total         7.50 h (4)
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ENTRIES),
        ("--by project", BY_PROJECT),
        ("--by day", BY_DAY),
        ("--by project --min-hours 3", LONG_PROJECTS),
        ("--person Bruno --min-hours 2.25", LONG_ENTRIES_OF_BRUNO),
        ("--person Anouk --by person", ANOUK_BY_PERSON),
    ],
)
def test_output(words, expected, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["worklog.py", *words.split()])
    worklog.main()
    assert capsys.readouterr().out == expected


def test_other_groups_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["worklog.py", "--by", "colour"])
    with pytest.raises(SystemExit):
        worklog.main()
    assert "invalid choice" in capsys.readouterr().err
