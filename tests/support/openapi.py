"""Check JSON responses against the OpenAPI document: declared statuses and no undeclared fields."""

import re
from collections import defaultdict
from typing import Any

import httpx
from jsonschema_rs import Draft202012Validator

Json = dict[str, Any]
# One repeats the parameters of a request, whose schema is ChatRequest; the other has further fields of the upstream.
_OPEN = {"RequestOutline", "OpenAiModel"}
# The one id that may contain slashes.
_MODEL_ID = "{model_id}"


class Conformance:
    """Checks every JSON response of the watched clients; `seen` has the statuses of each operation id."""

    def __init__(self, document: Json) -> None:
        self._document = document
        self._components = {"components": {"schemas": _closed(document["components"]["schemas"])}}
        self._routes = [
            (_pattern(path), method.upper(), operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        ]
        self.seen: defaultdict[str, set[int]] = defaultdict(set)

    def watch(self, client: httpx.Client) -> None:
        """Check all further responses of a client."""
        client.event_hooks = {"response": [self.check]}

    def check(self, response: httpx.Response) -> None:
        """Check one response; raises AssertionError."""
        operation = self._operation(response.request)
        label = f"{operation['operationId']} {response.status_code}"
        declared = operation["responses"].get(str(response.status_code))
        assert declared is not None, f"{label} is not declared"
        kind = response.headers.get("content-type", "").partition(";")[0]
        assert kind in declared.get("content", {"": None}), f"{label} is {kind}"
        self.seen[operation["operationId"]].add(response.status_code)
        if kind == "application/json":
            response.read()
            faults = self.faults_in(response.json(), declared["content"][kind]["schema"])
            assert not faults, f"{label}: {faults}"

    def faults_in(self, value: object, schema: Json) -> list[str]:
        """Return how a value differs from a schema of the document; undeclared fields are faults."""
        validator = Draft202012Validator({**schema, **self._components})
        return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]

    def _operation(self, request: httpx.Request) -> Json:
        for path, method, operation in self._routes:
            if method == request.method and path.fullmatch(request.url.path):
                return operation
        raise AssertionError(f"{request.method} {request.url.path} is not in the document")


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"{\w+}", "[^/]+", path.replace(".", r"\.").replace(_MODEL_ID, ".+")))


def _closed(schemas: Json) -> Json:
    """Return the schemas with additional properties forbidden."""
    return {
        name: {**schema, "additionalProperties": False} if "properties" in schema and name not in _OPEN else schema
        for name, schema in schemas.items()
    }
