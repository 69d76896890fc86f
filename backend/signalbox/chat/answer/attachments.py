"""What an answer holds besides its text, as events: citations, images, and warnings about omitted output."""

from collections.abc import Iterable

from msgspec import UNSET

from signalbox.core.codes import Code
from signalbox.core.events import AnyEvent, Content, Image, Source, Warning
from signalbox.core.parts import Citation, Completion, ImageDelta, Omitted
from signalbox.core.tools import SourceNumbers
from signalbox.tools.untrusted_text import visible_line

_LONGEST_TITLE, _LONGEST_SNIPPET = 200, 700


def attachment_events(
    parts: Iterable[Citation | ImageDelta | Omitted], numbers: SourceNumbers, step: int
) -> list[AnyEvent]:
    """Return the events of these parts, in order; a page that a search has found keeps its source number.

    Each citation, and each reason for an omission, is emitted once per run.
    """
    return [_event(part, numbers, step) for part in parts if isinstance(part, ImageDelta) or numbers.is_first(part)]


def attachments_of(completion: Completion) -> list[Citation | ImageDelta | Omitted]:
    """Return what a whole answer holds besides its text."""
    return [*completion.images, *completion.citations, *completion.omitted]


def _event(part: Citation | ImageDelta | Omitted, numbers: SourceNumbers, step: int) -> AnyEvent:
    match part:
        case Citation():
            return Content("", sources=[_source(part, numbers)], step=step)
        case ImageDelta(url):
            return Content("", images=[Image(url)])
        case Omitted(why):
            return Warning(why, Code.OUTPUT_DROPPED, step)


def _source(cited: Citation, numbers: SourceNumbers) -> Source:
    title = visible_line(cited.title, _LONGEST_TITLE) or cited.url
    snippet = visible_line(cited.content[: 4 * _LONGEST_SNIPPET], _LONGEST_SNIPPET)
    return Source(
        n=numbers.number(cited.url, title),
        url=cited.url,
        title=title,
        snippet=snippet or UNSET,
        start_index=UNSET if cited.start is None else cited.start,
        end_index=UNSET if cited.end is None else cited.end,
    )
