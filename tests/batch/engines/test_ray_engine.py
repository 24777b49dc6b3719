"""A batch on a Ray cluster gives what one on this machine gives."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from codur.batch.engines.ray_engine import Cluster, ClusterUnavailable, RayEngine
from codur.cli import machine
from tests.batch.kit import BUG, Watched, solve, table
from tests.runs.kit import fill

pytest.importorskip("ray")
pytestmark = pytest.mark.ray

SUM = {"main.py": "def f(n):\n    return sum(range(1, n))\nprint(f(3))\n", "expected.txt": "6\n"}
ENGINE = partial(RayEngine, cluster=Cluster(host=machine.host))


def test_results_are_those_of_the_local_engine(tmp_path: Path) -> None:
    given = tmp_path / "given"
    fill(given / "bug", BUG)
    fill(given / "sum", SUM)
    fill(given / "right", {"main.py": "print(1)\n", "expected.txt": "1\n"})
    here = solve(given, tmp_path / "here", jobs=2)
    watch = Watched()
    there = solve(given, tmp_path / "there", jobs=2, engine=ENGINE, watch=watch)
    assert table(there.results) == table(here.results)
    assert (there.code, there.ended) == (here.code, here.ended)
    assert watch.phases == [(name, "on the cluster") for name in watch.starts]
    assert sorted(watch.finishes) == sorted(watch.starts)
    kept = sorted(path.relative_to(tmp_path / "here").as_posix() for path in (tmp_path / "here").rglob("*"))
    assert sorted(path.relative_to(tmp_path / "there").as_posix() for path in (tmp_path / "there").rglob("*")) == kept


def test_nobody_at_the_address(tmp_path: Path) -> None:
    fill(tmp_path / "given", BUG)
    engine = partial(RayEngine, cluster=Cluster(host=machine.host, address="127.0.0.1:1"))
    with pytest.raises(ClusterUnavailable, match="no Ray cluster answers"):
        solve(tmp_path / "given", tmp_path / "results", engine=engine)
