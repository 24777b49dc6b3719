"""Projects whose tests do not all end within their time: those that have to do with the task are the check."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codur.events import CheckRan, Note
from codur.types import Plan, Step
from tests.runs.kit import Played, play
from tests.support.groq_server import ServerReply, calls

SHOP = "def double(n):\n    return n + 2\n"
SLOW = """import time

import pytest


@pytest.mark.parametrize("n", range(30))
def test_slow(n):
    time.sleep(0.4)
"""
TESTS = "from shop import double\n\n\ndef test_double():\n    assert double(4) == 8\n    assert double(9) == 18\n"
DJANGO_TESTS = (
    "import unittest  # django.test\n\nfrom shop import double\n\n\n"
    "class Shop(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(4), 8)\n"
)
FILES = {"shop.py": SHOP, "tests/test_a.py": SLOW, "tests/test_shop.py": TESTS, "conftest.py": ""}


def played(
    directory: Path,
    files: dict[str, str],
    prompt: str,
    *replies: ServerReply,
    timeout_s: float = 6.0,
    plan: Plan | None = None,
) -> Played:
    sections = {"verification": {"test_timeout_s": timeout_s}}
    return play(directory, files, prompt, list(replies), sections=sections, plan=plan)


def test_the_tests_of_the_file_that_the_task_names_are_the_check(tmp_path: Path) -> None:
    right = {"path": "shop.py", "name": "double", "code": "def double(n):\n    return n * 2\n"}
    run = played(tmp_path, FILES, "fix shop.py", calls(("replace_function", right)))
    assert run.result.outcome == "done"
    assert run.result.verdict is not None
    assert run.result.verdict.check == "python -m pytest tests/test_shop.py"
    assert any("all tests take longer than" in event.text for event in run.events if isinstance(event, Note))


def assert_cut_short(run: Played) -> None:
    """The run of all tests was ended early, and those of the shop decided."""
    first = next(event.verdict for event in run.events if isinstance(event, CheckRan))
    assert (first.check, first.timed_out) == ("python -m pytest", True)
    assert first.tests_total is not None
    assert first.tests_total < 10  # in 6 s a test in 0.4 s were more
    assert run.result.verdict is not None
    assert (run.result.outcome, run.result.verdict.check) == ("done", "python -m pytest tests/test_shop.py")


def test_a_run_ends_early_that_would_take_far_too_long_where_tests_are_near(tmp_path: Path) -> None:
    right = {"path": "shop.py", "name": "double", "code": "def double(n):\n    return n * 2\n"}
    files = {**FILES, "tests/test_a.py": SLOW.replace("range(30)", "range(300)")}
    run = played(tmp_path, files, "fix shop.py", calls(("replace_function", right)))
    assert_cut_short(run)


def test_a_plan_of_the_users_own_is_judged_by_fewer_tests_too(tmp_path: Path) -> None:
    edit = {"path": "shop.py", "old": "n + 2", "new": "n * 2"}
    steps = (Step(id="mend", action="tool", capability="replace_in_file", arguments=edit),)
    files = {**FILES, "tests/test_a.py": SLOW.replace("range(30)", "range(300)")}
    run = played(tmp_path, files, "fix shop.py", plan=Plan(steps=steps, origin="user"))
    assert_cut_short(run)


@pytest.mark.skipif(shutil.which("rspec") is None, reason="needs rspec")
def test_the_runner_of_another_language_is_given_the_file_that_is_near(tmp_path: Path) -> None:
    spec = "require './shop'\n\nRSpec.describe 'double' do\n  it('doubles') { expect(twice(4)).to eq 8 }\nend\n"
    files = {
        ".rspec": "",
        "shop.rb": "def twice(n)\n  n + 2\nend\n",
        "spec/shop_spec.rb": spec,
        "spec/slow_spec.rb": "RSpec.describe 'all' do\n  it('waits') { sleep 120 }\nend\n",
    }
    edit = calls(("replace_in_file", {"path": "shop.rb", "old": "n + 2", "new": "n * 2"}))
    run = played(tmp_path, files, "fix shop.rb", edit)
    assert run.result.verdict is not None
    assert (run.result.outcome, run.result.verdict.check) == ("done", "rspec spec/shop_spec.rb")


def test_a_script_of_the_projects_own_is_given_the_names_of_modules(tmp_path: Path) -> None:
    script = "# as DiscoverRunner\nimport sys, time, unittest\n"
    files = {
        "shop.py": SHOP,
        "tests/runtests.py": f"{script}sys.argv[1:] or time.sleep(60)\nunittest.main(module=None)\n",
        "tests/shop_tests/tests.py": DJANGO_TESTS,
    }
    right = {"path": "shop.py", "name": "double", "code": "def double(n):\n    return n * 2\n"}
    run = played(tmp_path, files, "fix shop.py", calls(("replace_function", right)))
    assert run.result.verdict is not None
    assert (run.result.outcome, run.result.verdict.check) == (
        "done",
        "PYTHONPATH=. python tests/runtests.py shop_tests.tests",
    )


def test_a_runner_that_does_not_say_how_many_tests_there_are_has_all_of_its_time(tmp_path: Path) -> None:
    imports = "import time, unittest\nfrom shop import double\n\n"
    case = imports + "class {}(unittest.TestCase):\n    def test(self):\n        {}\n"
    files = {
        "shop.py": SHOP,
        "tests/shop/tests.py": case.format("Shop", "self.assertEqual(double(4), 8)"),
        "tests/other/tests.py": case.format("Other", "time.sleep(2); self.assertEqual(double(2), 4)"),
    }
    right = {"path": "shop.py", "name": "double", "code": "def double(n):\n    return n * 2\n"}
    run = played(tmp_path, files, "fix shop.py", calls(("replace_function", right)))
    assert run.result.verdict is not None
    check = "python -m unittest tests.other.tests tests.shop.tests"
    assert (run.result.outcome, run.result.verdict.check) == ("done", check)


RUNTESTS = """import argparse, sys, unittest  # as DiscoverRunner

sys.path.insert(0, "tests")
parser = argparse.ArgumentParser()
parser.add_argument("--verbosity", type=int, default=1)
parser.add_argument("modules", nargs="*")
asked = parser.parse_args()
modules = asked.modules or ["other.tests", "shop_tests.tests"]
unittest.main(module=None, argv=["", *modules], verbosity=asked.verbosity)
"""
CASES = """import time
import unittest  # django.test

from store import twice


class Other(unittest.TestCase):
    def test_below(self):
        \"\"\"It is told in a line of its own.\"\"\"
        self.assertLess(twice(0), 4)

    def test_red(self):
        self.assertEqual(twice(0), 1)

    def test_slow(self):
        time.sleep(60)
"""


@pytest.mark.parametrize("more", [{}, {"tests/runtests.py": RUNTESTS}], ids=["unittest", "script"])
def test_a_pass_of_a_few_modules_must_break_no_test_of_the_others(more: dict[str, str], tmp_path: Path) -> None:
    files = {"shop.py": SHOP, "store.py": "import shop\n\n\ndef twice(n):\n    return shop.double(n)\n"}
    files |= {"tests/other/tests.py": CASES, "tests/shop_tests/tests.py": DJANGO_TESTS, **more}
    edits = [
        {"path": "shop.py", "name": "double", "code": f"def double(n):\n    return n {by}\n"} for by in ("+ 4", "* 2")
    ]
    answers = [calls(("replace_function", edit)) for edit in edits]
    run = played(tmp_path, files, "fix shop.py", *answers, timeout_s=3.0)
    assert (run.result.outcome, run.unexpected, len(run.requests)) == ("done", 0, 2)
    assert "n * 2" in run.files["shop.py"]
    told = run.message(1).partition("# Earlier attempts")[2]
    assert "test_below" in told
    assert "test_red" not in told


def test_where_none_is_near_all_of_the_time_is_used(tmp_path: Path) -> None:
    files = {**FILES, "bank.py": "", "tests/test_a.py": SLOW.replace("range(30)", "range(300)")}
    run = played(tmp_path, files, "fix bank.py")
    verdicts = [event.verdict for event in run.events if isinstance(event, CheckRan)]
    assert [verdict.timed_out for verdict in verdicts] == [True, True]
    assert (verdicts[1].tests_passed or 0) > (verdicts[0].tests_passed or 0)
    assert "The tests take longer than" in run.result.reason


def test_without_such_tests_the_run_ends_before_anybody_is_asked(tmp_path: Path) -> None:
    files = {"shop.py": SHOP, "bank.py": "", "tests/test_a.py": SLOW}
    run = played(tmp_path, files, "the tests fail, fix the bug")
    assert (run.result.exit_code, run.unexpected) == (2, 0)
    assert "The tests take longer than" in run.result.reason
    assert "--check" in run.result.remedy


def test_the_tests_that_the_task_names_are_the_check_from_the_start_where_there_are_very_many(tmp_path: Path) -> None:
    script = "# as DiscoverRunner\nimport sys, time, unittest\n"
    files = {
        "shop.py": SHOP,
        "tests/runtests.py": f"{script}sys.argv[1:] or time.sleep(60)\nunittest.main(module=None)\n",
        "tests/shop_tests/tests.py": DJANGO_TESTS,
        **{f"tests/many/test_{number}.py": "import unittest\n" for number in range(400)},
    }
    right = {"path": "shop.py", "name": "double", "code": "def double(n):\n    return n * 2\n"}
    prompt = "the test shop_tests.tests.Shop.test_double fails, mend it in shop.py"
    run = played(tmp_path, files, prompt, calls(("replace_function", right)))
    first = next(event.verdict for event in run.events if isinstance(event, CheckRan))
    assert not first.timed_out
    assert first.check == "PYTHONPATH=. python tests/runtests.py shop_tests.tests"
    assert run.result.outcome == "done"


def test_a_change_stays_where_the_tests_never_end_in_time_and_is_told_as_not_checked(tmp_path: Path) -> None:
    script = "# as DiscoverRunner\nimport time\nprint('.' * 50, flush=True)\ntime.sleep(60)\n"
    files = {"shop.py": SHOP, "tests/runtests.py": script, "tests/many/tests.py": "import unittest  # django.test\n"}
    files |= {f"tests/many/test_{number}.py": "import unittest\n" for number in range(400)}
    right = {"path": "shop.py", "name": "double", "code": "def double(n):\n    return n * 2\n"}
    prompt = "the tests fail, mend double in shop.py"
    run = played(tmp_path, files, prompt, calls(("replace_function", right)), timeout_s=2.0)
    assert run.result.changed_files == ("shop.py",)
    assert run.result.verdict is not None
    assert run.result.verdict.status == "no_check"
    assert "do not come to their end" in run.result.verdict.note
