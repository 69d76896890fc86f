"""Content as attributes: what no span may fail on, and what is left out."""

import json

from signalbox.core.messages import FilePart, ImagePart, TextPart, UserMessage
from signalbox.core.parts import Completion
from signalbox.tracing.content import call_content, exchange_attributes
from signalbox.tracing.names import LATEST


def test_values_that_json_libraries_reject() -> None:
    """A lone surrogate and a large integer are exported; the run that they belong to continues."""
    found = call_content(LATEST, {"text": "\ud800", "number": 2**70}, "done")
    assert json.loads(str(found["gen_ai.tool.call.arguments"])) == {"text": "\ud800", "number": 2**70}


def test_images_and_files_are_named_only() -> None:
    """Their data is too large for a span."""
    parts = (TextPart("Look."), ImagePart("data:image/png;base64,AAAA"), FilePart("a.pdf", "data:application/pdf,BBBB"))
    found = exchange_attributes(LATEST, [UserMessage(parts)], Completion(content="Nice."))
    sent = str(found["gen_ai.input.messages"])
    assert [part["type"] for part in json.loads(sent)[0]["parts"]] == ["text", "uri", "file"]
    assert "a.pdf" in sent
    assert "AAAA" not in sent
    assert "BBBB" not in sent
