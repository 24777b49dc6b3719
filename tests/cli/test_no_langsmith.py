"""What langchain sends to LangSmith where the user's environment asks for it: of a run of Codur's, nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.kit import codur_anew, environment
from tests.runs.kit import KEY
from tests.support.groq_server import GroqServer, calls

WRITTEN = calls(("replace_file_content", {"path": "main.py", "content": "print(6)\n"}))


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """The address of a service that keeps traces, and what it was asked."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", paths
        server.shutdown()


@pytest.mark.parametrize(
    "variables",
    [
        {"LANGSMITH_TRACING": "true"},
        {"LANGCHAIN_TRACING_V2": "true"},
        {"LANGCHAIN_TRACING": "true"},  # an error of langchain's own where the others are not set
        {"LANGSMITH_TRACING": "true", "LANGGRAPH_DEFAULT_RECURSION_LIMIT": "none"},
    ],
    ids="-".join,
)
def test_nothing_is_sent(tmp_path: Path, home: Path, asked: tuple[str, list[str]], variables: dict[str, str]) -> None:
    """A developer of other graphs has tracing switched on for them, for all programs that are started there."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.py").write_text("print(5)\n")
    (project / "expected.txt").write_text("6\n")
    url, paths = asked
    service: dict[str, Any] = {"LANGSMITH_ENDPOINT": url, "LANGCHAIN_ENDPOINT": url, "LANGSMITH_API_KEY": "lsv2_none"}
    with GroqServer(lambda _: WRITTEN) as server:
        ran = codur_anew(
            "fix main.py",
            cwd=project,
            home=home,
            GROQ_API_KEY=KEY,
            GROQ_BASE_URL=server.url,
            CODUR_REPAIR__MODE="off",
            **service | variables,
        )
    assert (ran.code, paths) == (0, []), ran.err
    assert len(server.requests) == 1  # the graph was used, in which a model is asked


def test_nothing_is_sent_from_a_process_that_traces_its_own_graphs(
    tmp_path: Path, home: Path, asked: tuple[str, list[str]]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.py").write_text("print(5)\n")
    (project / "expected.txt").write_text("6\n")
    url, paths = asked
    program = (
        "from codur import solve; print(solve('fix main.py', 'project', settings={'repair': {'mode': 'off'}})"
        ".result().outcome)"
    )
    with GroqServer(lambda _: WRITTEN) as server:
        service = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": "lsv2_none"}
        groq = {"GROQ_API_KEY": KEY, "GROQ_BASE_URL": server.url}
        told = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment(home, **service, **groq),
            capture_output=True,
            text=True,
            check=True,
        )
    assert (told.stdout, paths, len(server.requests)) == ("done\n", [], 1)


def test_what_no_run_uses_is_not_loaded() -> None:
    unused = ("langsmith.client", "requests", "langgraph_sdk.client", "websockets", "rich", "pygments", "click")
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from codur.graph.load import load_graph; load_graph('codur.session.graph_run');"
            f"print([name for name in {unused} if name in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "[]\n"


@pytest.mark.parametrize(
    "needs",
    [
        "langsmith.client.__file__",
        # as pydantic does of a type that it cannot make a schema for
        "if not hasattr(langsmith, '__file__'):\n    raise RuntimeError('no schema')",
    ],
)
def test_a_langgraph_that_needs_the_real_one_gets_it(tmp_path: Path, needs: str) -> None:
    """Of another version than those that were tried."""
    (tmp_path / "newer.py").write_text(f"import langsmith.client\n\n{needs}\n")
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "from codur.graph.load import load_graph as load; load('newer'); load('langgraph.graph')",
        ],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, "")
