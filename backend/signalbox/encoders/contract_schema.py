"""The JSON Schemas of the contract, which `just contract` generates."""

from importlib.resources import files


def schema_bytes() -> bytes:
    """Return the JSON Schema of the v1.1 contract, UTF-8 encoded."""
    return _read("v1_1.schema.json")


def table_schema_bytes() -> bytes:
    """Return the JSON Schema of a DataTable, UTF-8 encoded."""
    return _read("data_table_v1.schema.json")


def _read(name: str) -> bytes:
    return files("signalbox.encoders").joinpath(name).read_bytes()
