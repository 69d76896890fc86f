"""The route of a run: which target is current after skips and fallbacks."""

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.params import NO_PARAMS
from signalbox.services.upstreams.circuit_breaker import FAILURES
from signalbox.services.upstreams.registry import Upstreams

from tests.unit.services.upstreams.conftest import MakeUpstreams

pytestmark = pytest.mark.anyio
ENTRY = """\
[[upstream]]
name = "{0}"
dialect = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
rename = {{ "m" = "m-{0}" }}
"""
FILE = "".join(map(ENTRY.format, "abc")) + '[[route]]\nmodels = "*"\nuse = ["a", "b", "c"]\n'


def open_breaker(upstreams: Upstreams, *names: str) -> None:
    """Let upstreams fail until their circuit breakers open."""
    for server in upstreams.servers:
        for _ in range(FAILURES if server.entry.name in names else 0):
            server.breaker.record(UpstreamError(Code.UPSTREAM_UNREACHABLE))


async def test_a_fallback_takes_the_next_target(make_upstreams: MakeUpstreams) -> None:
    """Each with its own id of the model; after the last there is none."""
    route = make_upstreams(FILE).route("m", NO_PARAMS)
    seen = [route.current.model]
    while route.fall_back():
        seen.append(route.current.model)
    assert seen == ["m-a", "m-b", "m-c"]
    assert route.current.upstream == "c"


@pytest.mark.parametrize(
    ("failing", "skipped", "current"),
    [("", "", "a"), ("a", "a", "b"), ("ab", "ab", "c"), ("abc", "ab", "c"), ("b", "", "a")],
)
async def test_open_targets_are_skipped_but_never_the_last(
    make_upstreams: MakeUpstreams, failing: str, skipped: str, current: str
) -> None:
    """The names of those before the current one are returned for the warning."""
    upstreams = make_upstreams(FILE)
    open_breaker(upstreams, *failing)
    route = upstreams.route("m", NO_PARAMS)
    assert route.skip_failing() == [*skipped]
    assert route.current.upstream == current


async def test_a_fallback_skips_open_targets_too(make_upstreams: MakeUpstreams) -> None:
    """A forced upstream has no other target, so its breaker changes nothing."""
    upstreams = make_upstreams(FILE)
    open_breaker(upstreams, "b")
    route = upstreams.route("m", NO_PARAMS)
    assert (route.fall_back(), route.current.upstream) == (True, "c")
    forced = upstreams.route("b@m", NO_PARAMS)
    assert (forced.skip_failing(), forced.fall_back(), forced.current.upstream) == ([], False, "b")


async def test_outcomes_belong_to_the_current_target(make_upstreams: MakeUpstreams) -> None:
    """The breaker of the upstream that failed counts, and no other."""
    upstreams = make_upstreams(FILE)
    route = upstreams.route("m", NO_PARAMS)
    route.record(UpstreamError(Code.UPSTREAM_ERROR))
    route.fall_back()
    route.record(None)
    assert [server.breaker.consecutive_failures for server in upstreams.servers] == [1, 0, 0]


@pytest.mark.parametrize(("name", "order"), [("a", "abc"), ("c", "cab"), ("removed", "abc"), ("", "abc")])
async def test_an_open_tool_loop_stays_on_its_upstream(make_upstreams: MakeUpstreams, name: str, order: str) -> None:
    """It comes first; the others follow in their order."""
    route = make_upstreams(FILE).route("m", NO_PARAMS)
    route.prefer(name)
    seen = route.current.upstream
    while route.fall_back():
        seen += route.current.upstream
    assert seen == order
