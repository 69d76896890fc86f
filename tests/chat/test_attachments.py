"""Cited pages and images in the loop: numbered with the searches, kept in the turn, sent back where they are seen."""

import pytest
from signalbox.chat.loop_legacy import run_legacy
from signalbox.chat.loop_v2 import run_v2
from signalbox.chat.progress import Progress
from signalbox.chat.roles import DRAWN, DREW, NO_IMAGE, with_drawings
from signalbox.chat.weight import weight_of
from signalbox.core.events import Content, Image
from signalbox.core.messages import AssistantMessage, ImagePart, Message, TextPart, UserMessage
from signalbox.core.parts import Citation, ImageDelta, Omitted, TextDelta
from signalbox.core.tools import ToolContext
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.search_web import search_web

from tests.support.runs import RUN_ID, context_for, driven, no_wait
from tests.support.scripted import SERVED, FakeSearch, ScriptedClient, call, calls, ending

pytestmark = pytest.mark.anyio
PNG = "data:image/png;base64,iVBORw0KGgo="
IMAGE = ImagePart(PNG)


@pytest.mark.parametrize("loop", [run_v2, run_legacy])
async def test_a_page_that_a_search_found_keeps_its_number(loop: object) -> None:
    """One number for each canonical address, whoever names it; images and warnings are told as well."""
    cited = [Citation("https://example.org/sea"), Citation("https://EXAMPLE.org/tides#top", "Tides")]
    script = [[SERVED], [TextDelta("Twice."), ImageDelta(PNG), *cited, Omitted("Left out.")], ending()]
    client = ScriptedClient(calls(call(0, "search_web", '{"query":"tides"}')), script)
    tools = [search_web(FakeSearch(), None)]
    context, progress = context_for(tools), Progress(clock=lambda: 0.0)
    play = loop(  # type: ignore[operator]
        context, client, ToolExecutor(tools), progress, tool_context=ToolContext(run_id=RUN_ID), sleep=no_wait
    )
    events = [event for batch in await driven(play, context, progress) for event in batch]
    told = [source for event in events if isinstance(event, Content) for source in event.sources or ()]
    assert [(source.n, source.title) for source in told] == [(2, "https://example.org/sea"), (1, "Tides")]
    assert [image.url for e in events if isinstance(e, Content) for image in e.images or ()] == [PNG]
    assert "OUTPUT_DROPPED" in [getattr(event, "code", None) for event in events]
    last = context.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.images == (IMAGE,)


def drawn(*, after: bool = True, count: int = 1) -> list[Message]:
    """Give a chat in which images were drawn."""
    messages: list[Message] = [UserMessage("Draw."), AssistantMessage("", images=(IMAGE,) * count)]
    return [*messages, UserMessage("Brighter.")] if after else messages


def test_images_go_into_the_users_next_turn() -> None:
    """The model's own turn says in words that an image was there, so it is not a blank one."""
    _, said, asked = with_drawings(drawn(), sees_images=True)
    assert said == AssistantMessage(DREW)
    assert asked == UserMessage((TextPart(DRAWN), IMAGE, TextPart("Brighter.")))


def test_a_model_that_sees_none_reads_a_word() -> None:
    """And the user's turn stays as it is."""
    assert with_drawings(drawn(), sees_images=False)[1:] == [AssistantMessage(NO_IMAGE), UserMessage("Brighter.")]


def test_only_the_newest_images_are_sent() -> None:
    """Each may be some megabytes; the place of the others is told in words."""
    chat = [*drawn(count=3), *drawn(count=3)[1:]]
    users = [m for m in with_drawings(chat, sees_images=True) if isinstance(m, UserMessage)]
    assert [sum(isinstance(part, ImagePart) for part in m.content) for m in users if m.content != "Draw."] == [1, 3]


def test_nothing_follows_an_image() -> None:
    """Within its own run there is no user's turn to put it into."""
    assert with_drawings(drawn(after=False), sees_images=True)[1] == AssistantMessage(DREW)


def test_an_image_counts_towards_the_size_of_a_run() -> None:
    """It is most of what its event takes in the journal, though its words are empty."""
    assert weight_of([Content("x"), Content("", images=[Image(PNG)])]) > len(PNG)
