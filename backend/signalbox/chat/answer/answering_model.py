"""Which of the models that a request names has answered it: the requested one, or one of its fallbacks."""

from collections.abc import Collection, Sequence


def fallback_that_answered(served: str | None, requested: Collection[str], fallbacks: Sequence[str]) -> str | None:
    """Return the model of `fallbacks` (the request's `models`) that answered; None if the requested one did.

    `served` is the model that the answer names, and `requested` are the ids of the requested model. Providers report a
    model under a longer name (`…-2024-08-06`) or without its variant (`:nitro`), so the longest id that begins it
    counts. A model that is none of these answered for a fallback that chooses models, such as `openrouter/auto`.
    """
    if served is None or not fallbacks:
        return None
    ids: dict[str, str | None] = {_without_variant(model): model for model in reversed(fallbacks)}
    ids.update({_without_variant(model): None for model in requested if model})
    known = [one for one in ids if served.startswith(one)]
    return ids[max(known, key=len)] if known else served


def _without_variant(model: str) -> str:
    return model.partition(":")[0]
