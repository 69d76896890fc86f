"""The program of `bounded.py`: reads jobs, and writes one line for each. It imports nothing of Signalbox."""

import json
import re
import sys
from typing import Any

_LONGEST = 500
# Seconds of CPU. The parent kills this process much earlier, unless it was killed itself.
_MOST_CPU = 60


def _fault(kind: str, rule: Any, value: Any) -> str | None:
    if kind == "pattern":
        return None if re.search(rule, value) else "no match"
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # An empty registry: a $ref of the schema is never read from a file or the network.
    validator: Any = Draft202012Validator(rule, registry=Registry())
    error: Any = next(validator.iter_errors(value), None)
    return None if error is None else f"{error.json_path}: {error.message}"[:_LONGEST]


def _limit_cpu() -> None:
    try:
        import resource
    except ModuleNotFoundError:  # on Windows
        return
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU, _MOST_CPU))


def main() -> None:
    """Say that it is ready, then answer each job with null or a sentence."""
    _limit_cpu()
    jobs = json.load(sys.stdin.buffer)
    if any(kind == "schema" for kind, _, _ in jobs):
        _fault("schema", True, None)  # loads the libraries
    print("ready", flush=True)
    for kind, rule, value in jobs:
        try:
            fault = _fault(kind, rule, value)
        except Exception as error:  # noqa: BLE001 - any fault of a rule is its outcome
            fault = f"cannot be checked: {type(error).__name__}: {error}"[:_LONGEST]
        print(json.dumps(fault), flush=True)


if __name__ == "__main__":
    main()
