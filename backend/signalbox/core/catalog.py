"""What the catalogue says of one model, read once from the upstream's list."""

from msgspec import Struct

from signalbox.core.messages import JsonObject


class Prices(Struct, frozen=True):
    """USD per token, as the catalogue lists them."""

    prompt: float
    completion: float


class Abilities(Struct, frozen=True):
    """What a model accepts; None where the catalogue says nothing, and then the host decides.

    `parameters`: which fields of `Params`. `tools`: they may be offered. `modalities`: what a model that draws is asked
    to answer with.
    """

    parameters: frozenset[str] | None = None
    images: bool | None = None
    tools: bool = True
    modalities: tuple[str, ...] = ()


class ModelFacts(Struct, frozen=True):
    """One model of the catalogue. A number may be an integer or a float, as the upstream lists it.

    `prices` is None where the price is not known before the request. `pricing` and `supported` are shown to clients as
    the upstream lists them. A `hidden` model can be requested by name and is not offered for selection.
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
