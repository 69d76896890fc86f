"""Generate schemas, TypeScript types and golden streams from core/events.py and core/data_table.py.

`--check` only compares.
"""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
import orjson

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "backend")]

from signalbox.core import data_table, events  # noqa: E402

from tests.scenarios.contract.golden import FIXTURES, golden_streams  # noqa: E402

SCHEMA = ROOT / "backend" / "signalbox" / "encoders" / "v1_1.schema.json"
TABLE_SCHEMA = SCHEMA.with_name("data_table_v1.schema.json")
TYPES = ROOT / "clients" / "typescript" / "src" / "types" / "events.ts"
TABLE_TYPES = ROOT / "frontend" / "src" / "types" / "dataTable.ts"
GENERATED_TYPES = {SCHEMA: TYPES, TABLE_SCHEMA: TABLE_TYPES}


def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema of a frame's data: one of the events, with the fields that the envelope adds."""
    members = get_args(events.ContractEvent)
    types = (*members, events.Success, events.Failure, events.Envelope)
    _, parts = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    envelope = parts.pop("Envelope")["properties"]
    for member in members:
        extra = {name: value for name, value in envelope.items() if name not in parts[member.__name__]["properties"]}
        if member in events.WITHOUT_TIME:
            del extra["ts"]
        parts[member.__name__]["properties"] |= extra
    parts["Success"]["properties"]["success"] = {"const": True}
    parts["Failure"]["properties"]["success"] = {"const": False}
    tags = {str(member.__struct_config__.tag): f"#/$defs/{member.__name__}" for member in members}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ChatEvent",
        "description": f"One frame of the Signalbox contract v{events.VERSION}. Unknown fields and types are growth.",
        "oneOf": [{"$ref": ref} for ref in tags.values()],
        "discriminator": {"propertyName": "type", "mapping": tags},
        "$defs": parts,
    }


def table_schema() -> dict[str, Any]:
    """Return the JSON Schema of a DataTable; it allows unknown fields, which a later server may add."""
    (reference,), parts = msgspec.json.schema_components([data_table.DataTable], ref_template="#/$defs/{name}")
    for part in parts.values():
        part.pop("additionalProperties", None)
        part["description"] = " ".join(part["description"].split())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "DataTable",
        "description": f"Version {data_table.VERSION} of Signalbox's DataTable. Unknown fields are growth.",
        **reference,
        "$defs": parts,
    }


def wanted_files() -> dict[Path, bytes]:
    """Return the content of each generated file except the TypeScript types."""
    schemas = {
        path: orjson.dumps(schema, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        for path, schema in ((SCHEMA, contract_schema()), (TABLE_SCHEMA, table_schema()))
    }
    streams = asyncio.run(golden_streams())
    return schemas | {FIXTURES / f"{name}.sse": stream for name, stream in streams.items()}


def stale_files() -> list[Path]:
    """Return the generated files that are out of date, and fixtures that are no longer generated."""
    wanted = wanted_files()
    stale = [path for path, content in wanted.items() if not path.exists() or path.read_bytes() != content]
    return stale + [path for path in FIXTURES.glob("*.sse") if path not in wanted]


def main() -> int:
    """Write the files, or compare them with --check."""
    if "--check" in sys.argv:
        stale = stale_files()
        for path in stale:
            print(f"stale: {path.relative_to(ROOT)}; run `just contract`")
        return 1 if stale else 0
    FIXTURES.mkdir(exist_ok=True)
    for path in stale_files():
        path.unlink(missing_ok=True)
    for path, content in wanted_files().items():
        path.write_bytes(content)
        print(f"wrote {path.relative_to(ROOT)}")
    commands = [["node", "scripts/types.mjs", str(schema), str(types)] for schema, types in GENERATED_TYPES.items()]
    return max(subprocess.run(command, cwd=ROOT / "frontend", check=False).returncode for command in commands)


if __name__ == "__main__":
    sys.exit(main())
