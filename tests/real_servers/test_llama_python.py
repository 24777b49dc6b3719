"""llama-cpp-python's server, where it was built: `make real-servers BUILD=1`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codur.errors import ModelUnavailable
from codur.llm.profiles.local_models import served_models
from tests.llm.kit import SCHEMA, ask
from tests.real_servers.kit import ASKED_FOR, KEY, RealServer, client_of, free_port, has, once_there, running

pytestmark = [ASKED_FOR, pytest.mark.skipif(not has("llama_cpp"), reason="it is not built")]


@pytest.fixture(scope="module")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    url = f"http://127.0.0.1:{free_port()}"
    words = ["-m", "llama_cpp.server", "--model", str(model), "--n_ctx", "2048", "--n_threads", "1", "--api_key", KEY]
    home = tmp_path_factory.mktemp("llama_python")
    with running([*words, "--port", url.rpartition(":")[2]], home, once_there(url, "/v1/models")) as server:
        yield server


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_that_is_cut_off_says_so(server: RealServer, stream: bool) -> None:
    reply = client_of(server.url, "openai", model="tiny", stream=stream).complete(ask(max_completion_tokens=5))
    assert (reply.finish_reason, reply.usage.calls) == ("length", 1)


def test_a_stream_that_ends_without_a_word_is_asked_for_in_one_piece_which_says_why(server: RealServer) -> None:
    client = client_of(server.url, "openai", model="tiny", stream=True, max_attempts=4)
    with pytest.raises(ModelUnavailable, match="maximum context length is 2048 tokens"):
        client.complete(ask("word " * 1000))


def test_a_schema_that_it_does_not_take_is_told_with_what_to_set(server: RealServer) -> None:
    request = ask(schema=SCHEMA, max_completion_tokens=100)
    with pytest.raises(ModelUnavailable, match="refused the request: status 500") as caught:
        client_of(server.url, "openai", model="tiny").complete(request)
    assert caught.value.remedy == "Set llm.profiles.main.json_mode to object, or to text."
    client_of(server.url, "openai", model="tiny", json_mode="object").complete(request)


def test_a_wrong_key_is_told_as_such(server: RealServer) -> None:
    with pytest.raises(ModelUnavailable, match=r"status 401 \(Invalid API key\)"):
        client_of(server.url, "openai", model="tiny", key="sk-wrong").complete()
    assert served_models(f"{server.url}/v1") is None
