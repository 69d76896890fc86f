"""Route: the upstreams that may serve one run, in the order of fallback."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from signalbox.core.catalog import Prices
from signalbox.core.errors import UpstreamError
from signalbox.core.params import Params
from signalbox.core.parts import Request, StreamPart
from signalbox.core.ports import Destination, Emit, OnHead
from signalbox.services.upstream import UpstreamClient
from signalbox.services.upstreams.circuit_breaker import CircuitBreaker


@dataclass(frozen=True, slots=True)
class Target:
    """An upstream that serves a model.

    `model` is the upstream's id of the model, `requested` the client's id without a forced upstream. `fallback_prices`
    are those of the request's other models.
    """

    name: str
    client: UpstreamClient
    breaker: CircuitBreaker
    model: str
    requested: str
    prices: Prices | None = None
    fallback_prices: Mapping[str, Prices] = field(default_factory=dict[str, Prices])

    def destination(self, params: Params) -> Destination:
        """Return what a run with these parameters has to know about this upstream."""
        dialect = self.client.dialect
        return Destination(
            upstream=self.name,
            dialect=dialect.name,
            separates_calls=dialect.separates_calls,
            model=self.model,
            requested=self.requested,
            unsupported_params=dialect.unsupported_params(params),
            prices=self.prices,
            fallback_prices=self.fallback_prices,
        )

    def renamed(self, request: Request) -> Request:
        """Return a request with the upstream's id of the model."""
        return request if request.model == self.model else replace(request, model=self.model)


class Route:
    """The ChatClient of one run: it sends requests to its current target."""

    def __init__(self, targets: Sequence[Target], params: Params, on_release: Callable[[], None]) -> None:
        self._targets = targets
        self._params = params
        self._on_release: Callable[[], None] | None = on_release
        self._place = 0
        self.current = targets[0].destination(params)

    def prefer(self, name: str) -> None:
        """Begin with this upstream, if it is on the route: it has sent the tool loop that the run continues."""
        if any(target.name == name for target in self._targets[1:]):
            self._targets = sorted(self._targets, key=lambda target: target.name != name)
            self.current = self._targets[0].destination(self._params)

    def release(self) -> None:
        """Let go of the upstreams, once: the run has ended."""
        on_release, self._on_release = self._on_release, None
        if on_release is not None:
            on_release()

    def skip_failing(self) -> list[str]:
        """Move to the first target that its circuit breaker admits, or to the last one; return the names before it."""
        begin = self._place
        while self._place + 1 < len(self._targets) and not self._targets[self._place].breaker.admits():
            self._place += 1
        if self._place > begin:
            self.current = self._targets[self._place].destination(self._params)
        return [target.name for target in self._targets[begin : self._place]]

    def fall_back(self) -> bool:
        """Move to the next target that its circuit breaker admits, or to the last one; return False after the last."""
        if self._place + 1 >= len(self._targets):
            return False
        self._place += 1
        self.current = self._targets[self._place].destination(self._params)
        self.skip_failing()
        return True

    def record(self, error: UpstreamError | None) -> None:
        """Tell the circuit breaker of the current target how a request ended."""
        self._targets[self._place].breaker.record(error)

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Stream the answer of the current target; raises UpstreamError."""
        target = self._targets[self._place]
        await target.client.stream(target.renamed(request), emit, on_head)

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return the whole answer of the current target; raises UpstreamError."""
        target = self._targets[self._place]
        return await target.client.complete(target.renamed(request), on_head)
