"""Two processes of a cluster share the limit of a real service, while the actor between them is killed."""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from codur.batch.engines.cluster_limits import Account
from codur.batch.engines.limits_actor import ProcessLimits, limits_actor
from codur.llm.model import ChatReply
from codur.llm.rate_limits.demand import Demand, Rules
from codur.llm.rate_limits.told_limits import quotas_in, told_headers
from tests.batch.engines.simulated_cluster import Service

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.ray

LIMIT, TOKENS = 6000, 100


class Limited(ThreadingHTTPServer):
    """A service with a limit of tokens a minute, which it tells and refuses to pass."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.service = Service(LIMIT, 1000, steady=True)
        self.began = time.monotonic()
        self.lock = threading.Lock()
        self.half = threading.Event()


class Answers(BaseHTTPRequestHandler):
    server: Limited

    def do_POST(self) -> None:
        amount = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["tokens"]
        with self.server.lock:
            taken, told = self.server.service.ask(amount, time.monotonic() - self.server.began)
            if self.server.service.answered >= 30:
                self.server.half.set()
        self.send_response(200 if taken else 429)
        for quota in told:
            self.send_header(f"x-ratelimit-limit-{quota.unit}", f"{quota.limit:.0f}")
            self.send_header(f"x-ratelimit-remaining-{quota.unit}", f"{quota.remaining:.0f}")
            self.send_header(f"x-ratelimit-reset-{quota.unit}", f"{quota.reset_s}s")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def service() -> Iterator[Limited]:
    server = Limited()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    place = Path(tmp_path_factory.getbasetemp())
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
        _temp_dir=str(place / "r"),
    )
    yield
    ray.shutdown()


def _work(port: int, requests: int) -> tuple[list[int], int]:
    """Send requests as one worker; the statuses, and who answered."""
    models, statuses = ProcessLimits(Account(batch="b")).models, []
    for _ in range(requests):
        demand = Demand(
            provider="p", model="m", tokens=TOKENS, answer_tokens=50, cost_usd=0.0, rules=Rules(probes=True)
        )
        while (wait := models.wait_s(demand, 300.0)) > 0:
            time.sleep(min(wait, max(0.5, wait / 10)))
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("POST", "/", json.dumps({"tokens": TOKENS}))
        answer = connection.getresponse()
        statuses.append(answer.status)
        models.done(demand, ChatReply(limits=quotas_in(told_headers(dict(answer.getheaders())), time.time())))
        connection.close()
    models.close()
    return statuses, os.getpid()


def test_two_workers_share_a_limit_and_go_on_when_the_actor_is_killed(cluster: None, service: Limited) -> None:
    work: Any = ray.remote(num_cpus=1)(_work)
    workers = [work.remote(service.server_port, 40) for _ in range(2)]
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(service.half.wait, 60).result()
    ray.kill(limits_actor(), no_restart=False)
    (first, one), (second, other) = ray.get(workers, timeout=180)
    assert one != other
    assert [*first, *second] == [200] * 80
    assert service.service.refused == 0


def test_what_is_left_over_is_given_back_after_the_last_attempt_or_when_no_other_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits, closed = ProcessLimits(Account(batch="b")), threading.Event()
    monkeypatch.setattr(limits.models, "close", closed.set)
    with limits.in_use(is_last=False):
        pass
    with limits.in_use(is_last=False):
        assert not closed.wait(1.5), "another attempt has begun meanwhile"
    assert closed.wait(10)
    closed.clear()
    with limits.in_use(is_last=True):
        assert not closed.is_set()
    assert closed.is_set()
