"""Spans of a run, as a collector gets them by OTLP over HTTP."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.cli.kit import codur_anew
from tests.runs.kit import KEY, REPAIRABLE, fill
from tests.support.groq_server import GroqServer, json_reply, text

EXPLAINED = json_reply(
    {
        "task_type": "explanation",
        "confidence": 0.95,
        "detected_files": [],
        "suggested_action": "explain",
        "reasoning": ".",
    }
)
ASKED = "what bird would that be?"


class Collector(HTTPServer):
    """A collector on this machine.

    Attributes:
        spans: what has come in.
        bytes: the same as it came.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Span] = []
        self.bytes = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/traces"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        self.server.bytes += body
        found = ExportTraceServiceRequest.FromString(body).resource_spans
        self.server.spans += [span for resource in found for scope in resource.scope_spans for span in scope.spans]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def attributes(span: Span) -> dict[str, str | int]:
    found = ((item.key, item.value) for item in span.attributes)
    return {key: value.string_value or value.int_value for key, value in found}


@pytest.mark.parametrize("content", [False, True])
def test_a_run_with_a_model(content: bool, collector: Collector, project: Path, home: Path) -> None:
    fill(project, {"notes.txt": "milk\n"})
    with GroqServer([EXPLAINED, text(f"The answer is heron. {KEY}")]) as server:
        groq = f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"
        told = f"telemetry: {{endpoint: '{collector.url}', content: {str(content).lower()}}}\n"
        fill(home, {".config/codur/config.yaml": groq + told})
        ran = codur_anew(ASKED, cwd=project, home=home, GROQ_API_KEY=KEY)
    assert ran.code == 0, ran.err
    by_name = {span.name: span for span in collector.spans}
    run, chat = by_name["invoke_agent codur"], by_name["chat openai/gpt-oss-120b"]
    assert {span.trace_id for span in collector.spans} == {run.trace_id}
    assert chat.parent_span_id == by_name["execute"].span_id
    assert by_name["execute"].parent_span_id == run.span_id
    assert chat.kind == Span.SPAN_KIND_CLIENT
    known = attributes(chat)
    assert known["gen_ai.operation.name"] == "chat"
    assert (known["gen_ai.provider.name"], known["gen_ai.request.model"]) == ("groq", "openai/gpt-oss-120b")
    assert known["gen_ai.usage.input_tokens"]
    assert known["gen_ai.usage.output_tokens"]
    assert attributes(run)["codur.outcome"] == "done"
    assert KEY.encode() not in collector.bytes
    assert (b"heron" in collector.bytes, ASKED.encode() in collector.bytes) == (content, content)


def test_a_run_without_a_model_and_one_that_tells_nobody(collector: Collector, project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    assert codur_anew("fix main.py", "--dry-run", cwd=project, home=home).code == 0
    assert collector.spans == []
    ran = codur_anew("fix main.py", cwd=project, home=home, CODUR_TELEMETRY__ENDPOINT=collector.url)
    assert ran.code == 0, ran.err
    assert {"invoke_agent codur", "pattern_plan", "repair", "review"} <= {span.name for span in collector.spans}
    assert b"main.py" not in collector.bytes


def test_a_collector_that_is_not_there_ends_no_run(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = codur_anew("fix main.py", cwd=project, home=home, CODUR_TELEMETRY__ENDPOINT="http://127.0.0.1:9/v1/traces")
    assert ran.code == 0, ran.err


def test_a_project_cannot_have_spans_sent(collector: Collector, project: Path, home: Path) -> None:
    fill(project, {**REPAIRABLE, "codur.yaml": f"telemetry: {{endpoint: '{collector.url}'}}\n"})
    ran = codur_anew("fix main.py", cwd=project, home=home)
    assert "a project's file cannot set this" in ran.err
    assert collector.spans == []
