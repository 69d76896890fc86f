"""Variants that one worker has started are read, stopped and left through another one."""

from pathlib import Path

import pytest

from tests.scenarios.variants.variants_client import FOUR, PATH, body_of, by_model
from tests.scenarios.workers.test_two_workers import serve_twice
from tests.support.running_app import read_until
from tests.support.scripted_upstream import holds, waits
from tests.support.stream_reader import check_stream
from tests.support.workers import pid_of

pytestmark = pytest.mark.e2e

# Between workers, a disconnect travels through the database.
SOON = 10.0


def test_sc24_the_other_worker_reads_stops_and_leaves_variants(tmp_path: Path, postgres_url: str) -> None:
    """One variant is stopped there, one left, two complete; the same key there gives the same runs."""
    script = by_model({"openai/a": holds, "openai/b": holds}, waits)
    key = {"Idempotency-Key": "variants"}
    with serve_twice(tmp_path, postgres_url, script) as here, here.one.client() as one, here.two.client() as two:
        assert pid_of(one) != pid_of(two)
        started = one.post(PATH, json=body_of(*FOUR), headers=key).json()
        assert two.post(PATH, json=body_of(*FOUR), headers=key).json() == started
        ids = [variant["run_id"] for variant in started["variants"]]
        assert here.upstream.wait_until(lambda: len(here.upstream.asked) == len(FOUR))
        with two.stream("GET", f"/api/runs/{ids[2]}/events") as third, here.two.client() as other:
            pieces = third.iter_raw()
            seen = read_until(pieces, b"First ")
            assert other.post(f"/api/runs/{ids[0]}/stop").json()["status"] == "cancelled"
            with other.stream("GET", f"/api/runs/{ids[1]}/events") as second:
                read_until(second.iter_raw(), b"So far")
            assert here.upstream.wait_until(lambda: len(here.upstream.left) == 2, SOON)
            assert sorted(left.body["model"] for left in here.upstream.left) == ["openai/a", "openai/b"]
            here.upstream.opened.set()
            assert check_stream(seen + b"".join(pieces)).text == "First second."
        assert check_stream(two.get(f"/api/runs/{ids[3]}/events").content).text == "First second."
        nodes = two.get("/api/conversations/talk-1").json()["messages"]
        assert [node.get("status") for node in nodes] == [None, "cancelled", "cancelled", "complete", "complete"]
