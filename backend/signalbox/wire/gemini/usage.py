"""Converts `usageMetadata`, whose counts are totals of the answer so far."""

from signalbox.core.messages import JsonObject
from signalbox.core.parts import Usage, UsageReport
from signalbox.wire.gemini.values import count_in


def report_of(metadata: JsonObject) -> UsageReport:
    """Return the tokens: what server tools add to the prompt is input, and thoughts are output.

    `totalTokenCount` is the sum of all four (recorded: 32 + 25 + 4,610 + 37 = 4,704). `promptTokenCount` includes the
    cached tokens, `candidatesTokenCount` does not include thoughts.
    """
    thoughts = count_in(metadata, "thoughtsTokenCount")
    usage = Usage(
        input=count_in(metadata, "promptTokenCount") + count_in(metadata, "toolUsePromptTokenCount"),
        output=count_in(metadata, "candidatesTokenCount") + thoughts,
        reasoning=thoughts,
        cached=count_in(metadata, "cachedContentTokenCount"),
    )
    return UsageReport(usage, metadata)
