"""Model ids without a family, as Gemini's API has them."""

import re

from ...catalog import is_known
from ...faults.scripted import is_unknown_fault
from ..endpoint import answers_natively
from .errors import GeminiError

FAMILY = "google"
_OLDER = re.compile(r"gemini-[12]\b")
_KNOWN = re.compile(r"(?:gemini-|sim(?:-|$))")
# Other quirks of finish reasons exist only in chat completions.
_OWN_WORDS = "sim-quirk-a13"


def is_gemini_3(model: str) -> bool:
    """Return whether a model behaves like Gemini 3 and later: `sim` does."""
    return not _OLDER.match(model)


def neutral_id(model: str, *, method: str = "generateContent", version: str = "v1beta") -> str:
    """Return the id with its family; raises GeminiError if the model is unknown."""
    whole = f"{FAMILY}/{model}"
    is_served = answers_natively(whole) or model.startswith(_OWN_WORDS)
    if not _KNOWN.match(model) or not is_known(whole) or is_unknown_fault(whole) or not is_served:
        raise GeminiError(
            404,
            f"models/{model} is not found for API version {version}, or is not supported for {method}. Call ListModels "
            "to see the list of available models and their supported methods.",
        )
    return whole
