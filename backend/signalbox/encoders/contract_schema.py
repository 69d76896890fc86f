"""The JSON Schema of the contract, which `just contract` generates."""

from importlib.resources import files


def schema_bytes() -> bytes:
    """Return the JSON Schema of the v1.1 contract, UTF-8 encoded."""
    return files("signalbox.encoders").joinpath("v1_1.schema.json").read_bytes()
