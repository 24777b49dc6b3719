"""Spans of a run for OpenTelemetry, by its conventions for generative AI, made of events, which hold no secret.

Nothing is sent unless the settings name an address. The names are those of the conventions' version 1.38:
https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context

from codur import __version__
from codur.config.settings import Settings
from codur.events import (
    Emit,
    Event,
    ModelAnswered,
    ModelCalled,
    ModelSwitched,
    ModelWaiting,
    NodeEntered,
    RunFinished,
    RunStarted,
    ToolRan,
)

_TIMEOUT_S = 3
"""For sending: a run is not to wait for an address that does not answer."""


@contextmanager
def exported(settings: Settings, emit: Emit) -> Iterator[Emit]:
    """An `Emit` that also sends spans to the address of the settings; all are sent at the end."""
    provider = TracerProvider(resource=Resource.create({"service.name": "codur", "service.version": __version__}))
    exporter = OTLPSpanExporter(endpoint=settings.telemetry.endpoint, timeout=_TIMEOUT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield Spans(emit, provider, settings)
    finally:
        provider.shutdown()


class Spans:
    """Makes spans of events: one of the run, in it one of each node, in that one of each request and each tool.

    By the settings prompts and answers are attributes or not, and it is known which api each profile speaks.
    """

    def __init__(self, emit: Emit, provider: TracerProvider, settings: Settings) -> None:
        self._emit = emit
        self._tracer = provider.get_tracer("codur", __version__)
        self._settings = settings
        self._lock = threading.Lock()  # nodes run in threads
        self._run: Span | None = None
        self._node: Span | None = None
        self._asked: dict[str, list[Span]] = defaultdict(list)

    def __call__(self, event: Event) -> None:
        """Take an event, and hand it on."""
        with self._lock:
            self._see(event)
        self._emit(event)

    def _see(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._run = self._begun("invoke_agent codur", {**_RUN, "gen_ai.conversation.id": event.run_id})
                self._say(self._run, "gen_ai.input.messages", "user", event.prompt)
            case NodeEntered():
                self._end(self._node)
                self._node = self._begun(event.node, {})
            case ModelCalled():
                self._asked[event.profile].append(self._request(event))
            case ModelAnswered():
                self._answered(event)
            case ModelWaiting(profile=name) | ModelSwitched(from_profile=name):
                self._end(self._open(name), error="_OTHER")
            case ToolRan():
                error = "" if event.code == "ok" else event.code
                names = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": event.tool}
                self._end(self._begun(f"execute_tool {event.tool}", names), error=error)
            case RunFinished():
                self._ended(event)

    def _begun(self, name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Span:
        above = None if name.startswith("invoke_agent") else self._run if not attributes else self._node or self._run
        return self._tracer.start_span(
            name,
            context=set_span_in_context(above) if above is not None else None,
            kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
            attributes={key: value for key, value in attributes.items() if value != ""},
        )

    def _request(self, event: ModelCalled) -> Span:
        profile = self._settings.llm.profiles.get(event.profile)
        service = self._settings.providers.get(profile.provider) if profile is not None else None
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": service.api if service is not None else event.profile,
            "gen_ai.request.model": event.model,
            "codur.purpose": event.purpose,
        }
        return self._begun(f"chat {event.model}", attributes, client=True)

    def _answered(self, event: ModelAnswered) -> None:
        span = self._open(event.profile)
        if span is None:
            return
        span.set_attribute("gen_ai.usage.input_tokens", event.prompt_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", event.completion_tokens)
        span.set_attribute("codur.cost_usd", event.cost_usd)
        self._say(span, "gen_ai.output.messages", "assistant", event.text)
        self._end(span)

    def _open(self, profile: str) -> Span | None:
        """The oldest request to that profile that has no answer."""
        spans = self._asked[profile]
        return spans.pop(0) if spans else None

    def _ended(self, event: RunFinished) -> None:
        for spans in self._asked.values():
            for span in spans:
                self._end(span, error="_OTHER")
        self._end(self._node)
        if self._run is not None:
            self._run.set_attribute("codur.outcome", event.result.outcome)
            self._run.set_attribute("codur.solved_by", event.result.solved_by)
        self._end(self._run, error="" if event.result.outcome == "done" else event.result.outcome)

    def _say(self, span: Span, attribute: str, role: str, text: str) -> None:
        """Words of a person or a model, where the settings want them."""
        if self._settings.telemetry.content:
            message = {"role": role, "parts": [{"type": "text", "content": text}]}
            span.set_attribute(attribute, json.dumps([message]))

    def _end(self, span: Span | None, *, error: str = "") -> None:
        if span is None:
            return
        if error:
            span.set_attribute("error.type", error)
            span.set_status(StatusCode.ERROR)
        span.end()


_RUN = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "codur", "gen_ai.agent.name": "codur"}
