"""What the programs of others print, read into one form: a class for each form, and who reads which."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from codur.agents.external.protocol import Happening, Said, Used
from codur.parsing.json_values import amount, at, count, items, mapping, text
from codur.structs import Struct
from codur.types import Usage

_MAX_TEXT = 20_000


class _Counts(Struct, kw_only=False):
    """Where an object tells what was used: dotted paths, those of prompt and completion to be added up."""

    prompt: tuple[str, ...]
    cached: str
    completion: tuple[str, ...]
    cost: str = ""

    def of(self, value: Mapping[str, Any], calls: int = 1) -> Usage:
        """What it tells."""
        return Usage(
            calls=calls,
            prompt_tokens=sum(count(at(value, path)) for path in self.prompt),
            cached_tokens=count(at(value, self.cached)),
            completion_tokens=sum(count(at(value, path)) for path in self.completion),
            cost_usd=amount(at(value, self.cost)) if self.cost else 0.0,
        )


class Reader(ABC):
    """Reads the events of one run of an agent one by one, and knows at the end what it said and cost."""

    def __init__(self) -> None:
        self.text = ""  # its last word so far
        self.error = ""  # why it failed, as it says; empty if it does not
        self.usage = Usage()  # what it has told of its costs

    @abstractmethod
    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        """Take one event, which may be anything; gives what happened."""

    def _says(self, value: Any) -> Said:
        self.text = _words(value)
        return Said(text=self.text)


class CodexReader(Reader):
    """The events of `codex exec --json`, as in codex-rs/exec/src/exec_events.rs of openai/codex."""

    _COUNTS = _Counts(("usage.input_tokens",), "usage.cached_input_tokens", ("usage.output_tokens",))

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        match event.get("type"):
            case "item.completed":
                yield from self._item(mapping(event.get("item")))
            case "turn.completed":
                self.error = ""  # what was told on the way did not end it
                self.usage += self._COUNTS.of(event)
            case "turn.failed":
                self.error = _words(at(event, "error.message")) or "the turn failed"
            case "error":
                self.error = _words(event.get("message")) or "an error"

    def _item(self, item: Mapping[str, Any]) -> Iterator[Happening]:
        done = item.get("status") != "failed"
        match item.get("type"):
            case "agent_message":
                yield self._says(item.get("text"))
            case "command_execution":
                command = _words(item.get("command"), 200)
                yield Used(tool="command", ok=item.get("exit_code") == 0, summary=command)
            case "file_change":
                paths = [_words(at(change, "path"), 200) for change in items(item.get("changes"))]
                yield Used(tool="edit", ok=done, summary=", ".join(filter(None, paths)))
            case "mcp_tool_call":
                name = f"{_words(item.get('server'), 60)}.{_words(item.get('tool'), 60)}"
                yield Used(tool="mcp", ok=done, summary=name)
            case "web_search":
                yield Used(tool="web_search", summary=_words(item.get("query"), 200))


class ClaudeReader(Reader):
    """The events of `claude --print --output-format stream-json` (https://code.claude.com/docs/en/headless).

    Content and usage are as in the Messages API, which counts what is read from and written to the cache beside
    `input_tokens`. If no `result` comes (it was killed), the usage is the sum of its answers so far.
    """

    _COUNTS = _Counts(
        ("usage.input_tokens", "usage.cache_read_input_tokens", "usage.cache_creation_input_tokens"),
        "usage.cache_read_input_tokens",
        ("usage.output_tokens",),
        "total_cost_usd",
    )
    _INPUTS = ("file_path", "command", "pattern", "path", "url")

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[str, Usage] = {}

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        match event.get("type"):
            case "assistant":
                yield from self._answer(mapping(event.get("message")))
            case "result":
                said = _words(event.get("result"))
                self.text = said or self.text
                if event.get("is_error") is True or _words(event.get("subtype")).startswith("error"):
                    self.error = said or _words(event.get("subtype"), 100) or "an error"
                self.usage = self._COUNTS.of(event, count(event.get("num_turns")) or max(1, len(self._answers)))

    def _answer(self, message: Mapping[str, Any]) -> Iterator[Happening]:
        name = _words(message.get("id"), 100) or str(len(self._answers))
        self._answers[name] = self._COUNTS.of(message)  # one message comes in several events
        self.usage = sum(self._answers.values(), Usage())
        for block in map(mapping, items(message.get("content"))):
            if block.get("type") == "text":
                yield self._says(block.get("text"))
            elif block.get("type") == "tool_use":
                yield Used(tool=_tool(block.get("name")), summary=_shown(block.get("input"), self._INPUTS))


class GeminiReader(Reader):
    """The events of `gemini --output-format stream-json` (https://geminicli.com/docs/cli/headless).

    The assistant's messages may come in pieces; an `error` ends nothing.
    """

    _COUNTS = _Counts(("stats.input_tokens",), "stats.cached", ("stats.output_tokens",))
    _INPUTS = ("file_path", "command", "path", "pattern", "dir_path")

    def __init__(self) -> None:
        super().__init__()
        self._in_pieces = False
        self._tools: dict[str, Used] = {}

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        kind, number = event.get("type"), _words(event.get("tool_id"), 100)
        if kind != "message" and self._in_pieces:
            self._in_pieces = False
            yield Said(text=self.text)
        match kind:
            case "message":
                yield from self._message(event)
            case "tool_use":
                shown = _shown(event.get("parameters"), self._INPUTS)
                self._tools[number] = Used(tool=_tool(event.get("tool_name")), summary=shown)
            case "tool_result":
                begun = self._tools.pop(number, Used(tool="tool"))
                yield Used(tool=begun.tool, ok=event.get("status") == "success", summary=begun.summary)
            case "result":
                if event.get("status") == "error":
                    self.error = _words(at(event, "error.message")) or "an error"
                self.usage = self._COUNTS.of(event)

    def _message(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        if event.get("role") != "assistant":
            return
        if event.get("delta") is True:
            before = self.text if self._in_pieces else ""
            self.text = (before + _words(event.get("content")))[:_MAX_TEXT]
            self._in_pieces = True
        else:
            yield self._says(event.get("content"))


class OpencodeReader(Reader):
    """The events of `opencode run --format json`; their parts are those of https://opencode.ai/v1/docs/sdk/."""

    _COUNTS = _Counts(
        ("part.tokens.input", "part.tokens.cache.read", "part.tokens.cache.write"),
        "part.tokens.cache.read",
        ("part.tokens.output", "part.tokens.reasoning"),
        "part.cost",
    )

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        part = mapping(event.get("part"))
        match event.get("type"):
            case "text":
                yield self._says(part.get("text"))
            case "tool_use":
                done = at(part, "state.status") != "error"
                yield Used(tool=_tool(part.get("tool")), ok=done, summary=_words(at(part, "state.title"), 200))
            case "step_finish":
                self.usage += self._COUNTS.of(event)
            case "error":
                told = (at(event, "error.data.message"), at(event, "error.name"), "an error")
                self.error = next(filter(None, map(_words, told)))


class PlainReader(Reader):
    """JSON of a program that the settings describe by dotted paths into its objects; the last value counts."""

    def __init__(self, answer: Mapping[str, str]) -> None:
        super().__init__()
        self._answer = answer
        self._counts: dict[str, Any] = {}

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        found = {key: at(event, path) for key, path in self._answer.items()}
        if _words(found.get("text")):
            yield self._says(found["text"])
        self.error = _words(found.get("error")) or self.error
        names = ("prompt_tokens", "cached_tokens", "completion_tokens")
        told: dict[str, float] = {key: count(found.get(key)) for key in names}
        told["cost_usd"] = amount(found.get("cost_usd"))
        self._counts |= {key: value for key, value in told.items() if value}
        self.usage = Usage(calls=1, **self._counts) if self._counts else Usage()


READERS: Mapping[str, Callable[[], Reader]] = {
    "codex": CodexReader,
    "claude": ClaudeReader,
    "gemini": GeminiReader,
    "opencode": OpencodeReader,
}


def _words(value: Any, limit: int = _MAX_TEXT) -> str:
    return text(value, limit)


def _tool(name: Any) -> str:
    return _words(name, 60) or "tool"


def _shown(given: Any, names: Sequence[str]) -> str:
    """The first of these inputs that a tool was given."""
    inputs = mapping(given)
    return next((_words(inputs[name], 200) for name in names if name in inputs), "")
