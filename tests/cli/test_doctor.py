"""`codur doctor`: says whether programs are contained, and what else is there."""

from __future__ import annotations

import json
from pathlib import Path

from codur.sandbox.backends.probe import candidates, choose_backend
from tests.adversarial.backends import AVAILABLE
from tests.cli.kit import bound_by_permissions, codur
from tests.support.ollama_server import OllamaServer


def settings(tmp_path: Path, backend: str) -> str:
    path = tmp_path / "codur.yaml"
    path.write_text(f"sandbox:\n  backend: {backend}\n")
    return str(path)


def test_it_reports_the_back_end_in_use(home: Path, tmp_path: Path) -> None:
    ran = codur("doctor", "--json", cwd=tmp_path, home=home)
    found = json.loads(ran.out)
    chosen = choose_backend("auto", {"PATH": "/usr/bin:/bin"}, cache=None)
    assert found["backend"] == chosen.backend.name
    assert found["note"] == chosen.note
    assert found["contained"] == (chosen.backend.name != "none")
    assert ran.code == (0 if found["contained"] else 1)
    assert [one["name"] for one in found["backends"]] == list(candidates())
    for one in found["backends"]:
        assert one["works"] == (not one["problem"])
    assert found["state"] == str(home / ".local/state/codur")
    assert found["state_problem"] == ""
    assert {model["profile"] for model in found["models"]} >= {"local"}


def test_without_containment_it_says_so_and_fails(home: Path, tmp_path: Path) -> None:
    ran = codur("doctor", "--config", settings(tmp_path, "none"), cwd=tmp_path, home=home)
    assert ran.code == 1
    assert ran.out.startswith(
        "programs: NOT contained (none)\n  programs run without containment: sandbox.backend is none"
    )


def test_strict_fails_where_something_that_is_promised_is_not_held(home: Path, tmp_path: Path) -> None:
    for back_end in (*AVAILABLE, "none"):
        told = json.loads(codur("doctor", "--json", cwd=tmp_path, home=home, CODUR_SANDBOX__BACKEND=back_end).out)
        strict = codur("doctor", "--strict", cwd=tmp_path, home=home, CODUR_SANDBOX__BACKEND=back_end)
        whole = back_end in ("namespaces", "bubblewrap")
        assert (strict.code, told["gaps"] == []) == ((0, True) if whole else (1, False)), strict.out
        assert [line[12:] for line in strict.out.splitlines() if line.startswith("  not held: ")] == told["gaps"]


def test_where_strict_is_required_programs_run_only_if_everything_is_held(home: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "main.py").write_text("print(1)\n")
    (work / "expected.txt").write_text("1\n")
    for back_end in (*AVAILABLE, "none"):
        variables = {"CODUR_SANDBOX__BACKEND": back_end, "CODUR_SANDBOX__REQUIRE": "strict"}
        ran = codur("run the check", "--offline", "--check", "touch ran", cwd=work, home=home, stdin=b"", **variables)
        whole = back_end in ("namespaces", "bubblewrap")
        assert (work / "ran").exists() == whole, ran
        assert ran.code == (0 if whole else 2), ran
        assert f"strict, and {back_end} does not hold everything here" in ran.err or whole
        (work / "ran").unlink(missing_ok=True)


def test_a_back_end_that_does_not_work_is_reported(home: Path, tmp_path: Path) -> None:
    wanted = "landlock" if candidates() == ("seatbelt",) else "seatbelt"
    ran = codur("doctor", "--config", settings(tmp_path, wanted), cwd=tmp_path, home=home)
    assert ran.code == 1
    assert f"no program is started: sandbox.backend is {wanted}, which does not work here" in ran.out


def test_the_text_has_a_line_for_each_matter(home: Path, tmp_path: Path) -> None:
    ran = codur("doctor", cwd=tmp_path, home=home)
    starts = ("programs", "system", "state directory", "python", "git", "provider groq", "model auto", "model local")
    for start in (f"{each}: " for each in starts):
        assert any(line.startswith(start) for line in ran.out.splitlines()), start
    assert "provider groq: GROQ_API_KEY is not set: export GROQ_API_KEY=…" in ran.out.splitlines()


def test_a_state_directory_that_cannot_be_used_is_reported(home: Path, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    before = bound_by_permissions()
    place = str(tmp_path / "locked" / "below")
    found = json.loads(codur("doctor", "--json", cwd=tmp_path, home=home, before=before, XDG_STATE_HOME=place).out)
    assert found["state"] == f"{place}/codur"
    assert found["state_problem"].startswith(f"it cannot be made in {tmp_path / 'locked'}.")
    open_to_all = tmp_path / "open" / "codur"
    open_to_all.mkdir(parents=True)
    open_to_all.chmod(0o777)
    found = json.loads(codur("doctor", "--json", cwd=tmp_path, home=home, XDG_STATE_HOME=str(open_to_all.parent)).out)
    assert found["state_problem"].startswith("others may write to the state directory")


def test_control_characters_in_what_is_told_do_not_reach_the_terminal(home: Path, tmp_path: Path) -> None:
    ran = codur("doctor", cwd=tmp_path, home=home, XDG_STATE_HOME=str(tmp_path / "a\x1b]0;b\x07"))
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out


def test_each_provider_is_told_with_its_key_and_its_package(home: Path, tmp_path: Path) -> None:
    found = json.loads(codur("doctor", "--json", cwd=tmp_path, home=home, OPENAI_API_KEY="sk-secret-0123456789").out)
    providers = {one["provider"]: one for one in found["providers"]}
    assert [(name, one["api"], one["key"]) for name, one in providers.items()] == [
        ("groq", "groq", "not set"),
        ("ollama", "openai", "not needed"),
        ("openai", "openai", "set"),
        ("openrouter", "openai", "not set"),
        ("anthropic", "anthropic", "not set"),
    ]
    assert providers["groq"]["sdk"] == "groq"
    assert providers["groq"]["remedy"] == "export GROQ_API_KEY=…"
    assert "secret" not in json.dumps(found)


def test_it_says_what_auto_stands_for(home: Path, tmp_path: Path) -> None:
    with OllamaServer(["qwen3:8b"]) as server:

        def doctor(*words: str, **more: str) -> str:
            more["CODUR_PROVIDERS__OLLAMA__BASE_URL"] = server.openai_url
            return codur("doctor", *words, cwd=tmp_path, home=home, stdin=b"", before=(), **more).out

        told, found = doctor(), json.loads(doctor("--json"))
        by_auto = [*server.looked_up]
        keyed = doctor(GROQ_API_KEY="gsk_0123456789abcdefghij")
        with_key = server.looked_up[len(by_auto) :]
        named = doctor("--json", CODUR_LLM__DEFAULT_PROFILE="local", CODUR_LLM__FAST_PROFILE="local")
        by_name = server.looked_up[len(by_auto) + len(with_key) :]
    reason = f"GROQ_API_KEY is not set, and qwen3:8b is served at {server.openai_url}."
    assert f"model auto: local (qwen3:8b): {reason}\n" in told
    assert (found["auto"]["profile"], found["auto"]["model"]) == ("local", "qwen3:8b")
    assert "model auto: gpt-oss-120b (openai/gpt-oss-120b): GROQ_API_KEY is set.\n" in keyed
    assert by_auto == ["/v1/models", "/api/ps", "/api/show"] * 2
    assert with_key == []
    assert by_name == ["/api/ps", "/api/show"]
    assert json.loads(named)["auto"] is None


def test_a_home_below_a_directory_that_may_not_be_entered_is_none(tmp_path: Path) -> None:
    closed, work = tmp_path / "closed", tmp_path / "work"
    for place in (closed, work):
        place.mkdir()
    closed.chmod(0)
    ran = codur(
        "hello",
        cwd=work,
        home=closed / "a" / "b",
        before=bound_by_permissions(),
        XDG_STATE_HOME=str(tmp_path / "state"),
    )
    closed.chmod(0o700)
    assert ran.code == 0, ran
