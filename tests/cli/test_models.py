"""`codur models`: what is configured, where keys come from, who answers, what it costs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.kit import codur_here
from tests.runs.kit import KEY, fill
from tests.support.groq_server import GroqServer, hold, text


def test_what_is_configured_and_no_key_is_shown(project: Path, home: Path) -> None:
    ran = codur_here("models", cwd=project, home=home)
    assert ran.code == 0, ran.err
    assert "gpt-oss-120b: openai/gpt-oss-120b of groq" in ran.out
    assert "GROQ_API_KEY is not set; $0.15 in, $0.6 out a million tokens" in ran.out
    assert max(map(len, ran.out.splitlines()[:-1])) <= 80
    told = json.loads(codur_here("models", "gpt-oss-120b", "local", "--json", cwd=project, home=home).out)
    assert [(row["profile"], row["key"]) for row in told["models"]] == [
        ("gpt-oss-120b", "GROQ_API_KEY is not set"),
        ("local", ""),
    ]
    shown = codur_here("models", "--json", cwd=project, home=home, GROQ_API_KEY=KEY)
    assert KEY not in shown.out
    assert "default" in json.loads(shown.out)["models"][0]["used"]
    wrong = codur_here("models", "gpt-oss-12b", cwd=project, home=home)
    assert (wrong.code, "Did you mean gpt-oss-120b?" in wrong.err) == (2, True)


def test_who_answers(project: Path, home: Path) -> None:
    with GroqServer([text("ok"), hold()]) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"})
        keys = {"GROQ_API_KEY": KEY}
        ran = codur_here("models", "gpt-oss-20b", "--test", cwd=project, home=home, **keys)
        assert ran.code == 0, ran.out
        assert "✔ gpt-oss-20b" in ran.out
        assert "    answered in " in ran.out
        late = codur_here("models", "gpt-oss-20b", "--test", "--timeout", "0.5", cwd=project, home=home, **keys)
        assert (late.code, "it did not answer within 0.5 s" in late.out) == (3, True)
        server.release()
    nobody = codur_here("models", "gpt-oss-20b", "--test", cwd=project, home=home)
    assert nobody.code == 3
