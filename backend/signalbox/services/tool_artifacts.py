"""Converts artifacts of tools to strict JSON within a limit, and validates DataTables."""

from functools import partial
from typing import Final, cast

import orjson
from msgspec import to_builtins

from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.data_table import DataTable, fault_of, is_data_table
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.offload import offloaded
from signalbox.services.tool_results import ExcessiveResultError, as_json, measured

# Characters of JSON: a table of a thousand rows has about 300,000. Every client of the run receives it.
LARGEST = 512 * 1024


class UnusableArtifactError(Exception):
    """An artifact that clients cannot be sent; `reason` completes "The artifact of NAME …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


async def artifact_json(artifact: object) -> JsonValue:
    """Return an artifact as strict JSON; raises UnusableArtifactError."""
    if artifact is None:
        return None
    try:
        size = measured(artifact.data if isinstance(artifact, DataTable) else artifact, LARGE)
        return await offloaded(partial(_converted, artifact), size=size)
    except ExcessiveResultError as error:
        raise UnusableArtifactError(error.reason) from None
    except TypeError:
        raise UnusableArtifactError("is not JSON") from None


def _converted(artifact: object) -> JsonValue:
    if isinstance(artifact, DataTable):
        measured(artifact.data, LARGEST, is_bound=True)
        artifact = to_builtins(artifact)
    value = cast(JsonValue, orjson.loads(as_json(artifact, LARGEST).json))
    if is_data_table(value) and (fault := fault_of(cast(JsonObject, value))):
        raise UnusableArtifactError(f"is not a valid DataTable: {fault}")
    return value
