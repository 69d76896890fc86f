"""Combines the parts of an answer, streamed or whole, into one Completion."""

from collections.abc import Collection, Iterable

from msgspec import Struct, field, structs

from signalbox.chat.calls.assembly import CallAssembler
from signalbox.core.messages import Native, ReasoningDetail
from signalbox.core.parts import (
    CallDelta,
    Citation,
    Completion,
    Details,
    EndOfStream,
    Fault,
    Finish,
    HiddenReasoning,
    ImageDelta,
    NativeTurn,
    Omitted,
    ReasoningDelta,
    RefusalDelta,
    Served,
    StreamPart,
    TextDelta,
    TokenLogprobs,
    Unreadable,
    UsageReport,
)


class ResponseBuilder(Struct, eq=False):
    """Collects the parts of one answer; text is joined once, at the end."""

    known_names: Collection[str] = ()
    text: list[str] = []
    refusal: list[str] = []
    reasoning: list[str] = []
    reasoning_field: str | None = None
    details: tuple[ReasoningDetail, ...] = ()
    native: Native | None = None
    logprobs: list[TokenLogprobs] = []
    images: list[ImageDelta] = []
    citations: list[Citation] = []
    omitted: list[Omitted] = []
    finish: Finish = Finish()
    report: UsageReport | None = None
    fault: Fault | None = None
    served: Served = Served()
    unreadable: int = 0
    ended: bool = False
    assembler: CallAssembler = field(default_factory=CallAssembler)

    def __post_init__(self) -> None:
        """Pass the offered tools to the assembler."""
        self.assembler.known_names = self.known_names

    def add(self, part: StreamPart) -> None:  # noqa: C901, PLR0912 - one arm per kind of part, nothing nested
        """Add one part."""
        match part:
            # Ordered by frequency in a streamed answer; most text does not come through here.
            case ReasoningDelta(text, name):
                self.reasoning.append(text)
                self.reasoning_field = self.reasoning_field or name
            case Served():
                self.served = part
            case Finish():
                self.finish = part
            case UsageReport():
                self.report = _latest(self.report, part)
            case EndOfStream():
                self.ended = True
            case TextDelta(text):
                self.text.append(text)
            case CallDelta():
                self.assembler.add(part)
            case Details(items):
                self.details += items
            case NativeTurn(native):
                self.native = native
            case RefusalDelta(text):
                self.refusal.append(text)
            case Fault():
                self.fault = self.fault or part
            case Citation():
                self.citations.append(part)
            case ImageDelta():
                self.images.append(part)
            case Omitted():
                self.omitted.append(part)
            case Unreadable():
                self.unreadable += 1
            case TokenLogprobs():
                self.logprobs.append(part)
            case HiddenReasoning():
                pass

    def result(self) -> Completion:
        """Return the answer so far."""
        return Completion(
            content="".join(self.text),
            refusal="".join(self.refusal),
            reasoning="".join(self.reasoning),
            reasoning_field=self.reasoning_field,
            reasoning_details=self.details,
            native=self.native,
            logprobs=tuple(self.logprobs),
            calls=tuple(self.assembler.calls()),
            images=tuple(self.images),
            citations=tuple(self.citations),
            omitted=tuple(self.omitted),
            finish=self.finish,
            usage=self.report.usage if self.report else None,
            usage_raw=self.report.raw if self.report else None,
            fault=self.fault,
            served=self.served,
            unreadable=self.unreadable,
            ended=self.ended,
        )


def parse_completion_response(parts: Iterable[StreamPart], known_names: Collection[str] = ()) -> Completion:
    """Combine the parts of one answer, streamed or whole, into a Completion; nothing is repaired."""
    builder = ResponseBuilder(known_names)
    for part in parts:
        builder.add(part)
    return builder.result()


def _latest(before: UsageReport | None, new: UsageReport) -> UsageReport:
    """Return the last report, since reports are running totals; the cost of an earlier one stays if it has none."""
    if before is None or before.usage.cost is None or new.usage.cost is not None:
        return new
    if not (new.usage.input or new.usage.output):
        return before  # an empty report after the real one
    return UsageReport(structs.replace(new.usage, cost=before.usage.cost), new.raw)
