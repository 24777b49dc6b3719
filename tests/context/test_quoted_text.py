"""Where a text that a task quotes is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.context.quoted_text import quoted_places
from codur.workspace.workspace import Workspace

SOURCE = "def take():\n    raise ValueError('there is nothing left in stock')\n"
TOLD = ("ValueError: there is nothing left in stock", "why is there 'there is nothing left in stock'?")


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("before", ["", "it says\n\n> ", "\n" * 15_000, "| - " * 4_000 + "\n", " \n" * 7_000])
def test_a_message_is_found_after_any_number_of_empty_lines(before: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "depot.py").write_text(SOURCE)
    (tmp_path / "test_depot.py").write_text(SOURCE)
    workspace = Workspace(tmp_path)
    assert quoted_places(f"{before}{told}\n", workspace.list_files(), workspace) == "depot.py:2"


SETTINGS = "CACHE_IGNORE_SCHEMES = ['file']\nCACHE_IGNORE_MISSING = False\nCACHE_DIR = 'x'\n"
POLICY = "def skips(request, settings):\n    return request.scheme in settings['CACHE_IGNORE_SCHEMES']\n"


@pytest.mark.parametrize(
    ("told", "places"),
    [
        ("add a setting CACHE_IGNORE_METHODS", {"settings.py:1", "policy.py:2"}),
        ("add a setting `CACHE_IGNORE_METHODS` and CACHE_IGNORE_HOSTS", {"settings.py:1", "policy.py:2"}),
        ("CACHE_IGNORE_MISSING does nothing", set()),
        ("add a setting CACHE_METHODS", set()),
        ("an option --cache-ignore for everything", set()),
        ("an option --keep-going-on", {"options.js:2"}),
        ("a keep-going-mode is wanted", {"options.js:2"}),
        ("add maxRetryCount", {"options.js:1"}),
    ],
)
def test_what_is_new_is_written_where_its_siblings_are(told: str, places: set[str], tmp_path: Path) -> None:
    texts = {"settings.py": SETTINGS, "policy.py": POLICY, "test_policy.py": POLICY}
    options = "const maxRetryDelay = 3;\nflags('keep-going-now');\n"
    for path, text in {**texts, "options.js": options, "other.py": "CACHE = 1\nmaximum = 2\n"}.items():
        (tmp_path / path).write_text(text)
    workspace = Workspace(tmp_path)
    assert set(quoted_places(told, workspace.list_files(), workspace).split()) == places


PLUGIN = "def commands():\n    return [Subcommand('splupdate', help='update playlists')]\n"


@pytest.mark.parametrize(
    ("told", "places"),
    [
        ("beet splupdate should only print what it would write", {"smart.py:2"}),
        ("change the 'Error:' prefix", {"report.py:2"}),
        ("change the playlists of all folders", set()),  # only prose has one of the words, and too many lines the other
        ("look at smart.py/splupdate", set()),
    ],
)
def test_a_rare_word_leads_to_the_lines_of_the_program_that_have_it(
    told: str, places: set[str], tmp_path: Path
) -> None:
    report = "def told(problem):\n    return 'Error:' + problem\n\n\ndef error(problem):\n    return problem\n"
    many = "playlists = []\n" * 7
    texts = {
        "smart.py": PLUGIN,
        "report.py": report,
        "play.py": f"{many}# of all folders\n",
        "tests/test_smart.py": PLUGIN,
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    workspace = Workspace(tmp_path)
    assert set(quoted_places(told, workspace.list_files(), workspace).split()) == places
