"""Converts artifacts of tools to strict JSON within a limit, and validates DataTables."""

from functools import partial
from typing import Final, cast

import orjson
from msgspec import convert, to_builtins

from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.data_table import Column, DataTable, ImageFormat, fault_of, is_data_table
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.security.image_addresses import ImageAddresses
from signalbox.core.tools import LARGEST_ARTIFACT
from signalbox.offload import offloaded
from signalbox.services.tool_results import ExcessiveResultError, as_json, measured


class UnusableArtifactError(Exception):
    """An artifact that clients cannot be sent; `reason` completes "The artifact of NAME …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


async def artifact_json(artifact: object, images: ImageAddresses | None = None) -> JsonValue:
    """Return an artifact as strict JSON; raises UnusableArtifactError.

    `images` signs the addresses of a table's images, so that clients load them through this server.
    """
    if artifact is None:
        return None
    try:
        size = measured(artifact.data if isinstance(artifact, DataTable) else artifact, LARGE)
        return await offloaded(partial(_converted, artifact, images), size=size)
    except ExcessiveResultError as error:
        raise UnusableArtifactError(error.reason) from None
    except TypeError:
        raise UnusableArtifactError("is not JSON") from None


def _converted(artifact: object, images: ImageAddresses | None) -> JsonValue:
    if isinstance(artifact, DataTable):
        measured(artifact.data, LARGEST_ARTIFACT, is_bound=True)
        artifact = to_builtins(artifact)
    value = cast(JsonValue, orjson.loads(as_json(artifact, LARGEST_ARTIFACT).json))
    if is_data_table(value):
        table = cast(JsonObject, value)
        if fault := fault_of(table):
            raise UnusableArtifactError(f"is not a valid DataTable: {fault}")
        if images is not None:
            _sign_images(table, images)
    return value


def _sign_images(table: JsonObject, images: ImageAddresses) -> None:
    """Replace the addresses of images at their sources; a path is already on this server."""
    rows = cast(list[JsonObject], table["data"])
    keys = [one.key for one in convert(table["columns"], list[Column]) if isinstance(one.format, ImageFormat)]
    for row in rows:
        for key in keys:
            address = row.get(key)
            if isinstance(address, str) and not address.startswith("/"):
                row[key] = images.sign(address)
