"""One model of the catalogue as typed values, parsed once from the upstream's list."""

from collections.abc import Iterable

from msgspec import Struct

from signalbox.core.messages import JsonObject
from signalbox.core.parts import Usage


class Prices(Struct, frozen=True):
    """USD per token. Cached and cache-written tokens without a price cost as much as the rest of the prompt."""

    prompt: float
    completion: float
    cached: float | None = None
    cache_written: float | None = None

    def cost_of(self, usage: Usage) -> float:
        """Return the cost of one model call by its tokens."""
        cached = self.prompt if self.cached is None else self.cached
        written = self.prompt if self.cache_written is None else self.cache_written
        plain = max(usage.input - usage.cached - usage.cache_written, 0)
        prompt = plain * self.prompt + usage.cached * cached + usage.cache_written * written
        return round(prompt + usage.output * self.completion, 12)


def dearest(prices: Iterable[Prices]) -> Prices | None:
    """Return prices that none of these exceed; None if there are none."""
    known = [*prices]
    if not known:
        return None
    return Prices(max(one.prompt for one in known), max(one.completion for one in known))


class Abilities(Struct, frozen=True):
    """What a model accepts. None means that the catalogue does not say; the provider decides.

    `parameters` are names of fields of `Params`. `tools` is whether tools may be offered. `modalities` are the output
    modalities to request from a model that generates images.
    """

    parameters: frozenset[str] | None = None
    images: bool | None = None
    tools: bool = True
    modalities: tuple[str, ...] = ()


class ModelFacts(Struct, frozen=True):
    """One model of the catalogue. A number may be an integer or a float, as the upstream lists it.

    `prices` is None where the price is not known before the request. `pricing` and `supported` are shown to clients as
    the upstream lists them. A `hidden` model can be requested by name and is not offered for selection. `owned_by` is
    empty if the upstream does not say. `listed` is the upstream's entry, for clients that know its format. `upstreams`
    are the names of the upstreams that serve the model, in the order of fallback, if a file configures several.
    """

    id: str
    name: str
    context_length: float | None = None
    max_output: float | None = None
    created: float | None = None
    prices: Prices | None = None
    abilities: Abilities = Abilities()
    badges: tuple[str, ...] = ()
    hidden: bool = False
    pricing: JsonObject | None = None
    supported: tuple[str, ...] = ()
    owned_by: str = ""
    listed: JsonObject = {}
    upstreams: tuple[str, ...] = ()
