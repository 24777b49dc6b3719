"""What loading settings costs: heavy libraries are imported only where there is something to read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("asyncio", "difflib", "httpx", "jsonschema", "pydantic", "yaml")
CODE = """
import sys
from pathlib import Path
from codur.config.loader import UserSources, load_settings
work = Path({work!r})
found = load_settings(work, UserSources(environ={environ!r}, home=work), {overrides!r})
print(found.settings.runtime.max_llm_calls, *(name for name in {heavy!r} if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("environ", "overrides", "project", "output"),
    [
        ({}, {}, None, "20"),
        ({"PATH": "/bin", "CODUR_DEBUG": "1"}, {}, None, "20"),
        ({}, {"runtime": {"max_llm_calls": 3}, "llm": {"default_profile": "local"}}, None, "3"),
        ({"CODUR_LLM__DEFAULT_PROFILE": "local"}, {}, None, "20"),
        ({"CODUR_RUNTIME__MAX_LLM_CALLS": "4"}, {}, None, "4 yaml"),
        ({}, {}, "runtime: {max_llm_calls: 5}", "5 yaml"),
    ],
)
def test_imports(
    environ: dict[str, str], overrides: dict[str, object], project: str | None, output: str, tmp_path: Path
) -> None:
    if project is not None:
        (tmp_path / "codur.yaml").write_text(project, encoding="utf-8")
    code = CODE.format(work=str(tmp_path), environ=environ, overrides=overrides, heavy=HEAVY)

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == (output + "\n", "")
