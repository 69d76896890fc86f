"""Citations and images in the loop: numbered like search results, stored in the turn, sent back to the model."""

from collections.abc import Callable

import pytest
from signalbox.chat.answer.output_limit import size_of
from signalbox.chat.budget import IMAGE_TOKENS, Budget, Prices
from signalbox.chat.history import message_order
from signalbox.chat.history.message_order import DRAWN, DREW, NO_IMAGE, with_generated_images
from signalbox.chat.history.repair import history_for
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.events import Content, Image
from signalbox.core.messages import AssistantMessage, ImagePart, Message, TextPart, UserMessage
from signalbox.core.messages import weight_of as characters_of
from signalbox.core.parts import Citation, ImageDelta, Omitted, TextDelta
from signalbox.core.ports import Loop
from signalbox.core.tools import ToolContext
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.search_web import search_web

from tests.support.fakes import SERVED, FakeSearch, ScriptedClient, call, calls, ending
from tests.support.loop_runs import RUN_ID, context_for, driven, no_wait

pytestmark = pytest.mark.anyio
PNG = "data:image/png;base64,iVBORw0KGgo="
IMAGE = ImagePart(PNG)


@pytest.mark.parametrize("new_loop", [V2Loop, LegacyLoop])
async def test_a_page_that_a_search_found_keeps_its_number(new_loop: Callable[..., Loop]) -> None:
    """A page has one number per canonical URL, whether a search or a citation names it."""
    cited = [Citation("https://example.org/sea"), Citation("https://EXAMPLE.org/tides#top", "Tides")]
    script = [[SERVED], [TextDelta("Twice."), ImageDelta(PNG), *cited, Omitted("Left out.")], ending()]
    client = ScriptedClient(calls(call(0, "search_web", '{"query":"tides"}')), script)
    tools = [search_web(FakeSearch(), None)]
    context, progress = context_for(tools), Progress(clock=lambda: 0.0)
    loop = new_loop(
        LoopInputs(context, client, ToolExecutor(tools), progress, ToolContext(run_id=RUN_ID), sleep=no_wait)
    )
    events = [event for batch in await driven(loop, context, progress) for event in batch]
    told = [source for event in events if isinstance(event, Content) for source in event.sources or ()]
    assert [(source.n, source.title) for source in told] == [(2, "https://example.org/sea"), (1, "Tides")]
    assert [event.step for event in events if isinstance(event, Content) and event.sources] == [2, 2]
    assert [image.url for e in events if isinstance(e, Content) for image in e.images or ()] == [PNG]
    assert "OUTPUT_DROPPED" in [getattr(event, "code", None) for event in events]
    last = context.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.images == (IMAGE,)


@pytest.mark.parametrize("new_loop", [V2Loop, LegacyLoop])
async def test_repeated_citations_are_emitted_once(new_loop: Callable[..., Loop]) -> None:
    """An answer of only a citation or an omission is blank, so it is requested again, and repeats them."""
    tools = [search_web(FakeSearch(), None)]
    blank = [[SERVED], [Citation("https://example.org/sea"), Omitted("Left out.")], ending()]
    client = ScriptedClient(blank, blank, [[SERVED], [TextDelta("The sea.")], ending()])
    context, progress = context_for(tools), Progress(clock=lambda: 0.0)
    loop = new_loop(
        LoopInputs(context, client, ToolExecutor(tools), progress, ToolContext(run_id=RUN_ID), sleep=no_wait)
    )
    events = [event for batch in await driven(loop, context, progress) for event in batch]
    assert len(client.requests) == 3
    assert sum(isinstance(event, Content) and bool(event.sources) for event in events) == 1
    assert [getattr(event, "code", None) for event in events].count("OUTPUT_DROPPED") == 1


def drawn(*, after: bool = True, count: int = 1) -> list[Message]:
    """Return a conversation with generated images."""
    messages: list[Message] = [UserMessage("Draw."), AssistantMessage("", images=(IMAGE,) * count)]
    return [*messages, UserMessage("Brighter.")] if after else messages


def test_images_go_into_the_users_next_turn() -> None:
    """A placeholder in the model's own turn keeps the turn from being blank."""
    _, said, asked = with_generated_images(drawn(), sees_images=True, most=4)
    assert said == AssistantMessage(DREW)
    assert asked == UserMessage((TextPart(DRAWN), IMAGE, TextPart("Brighter.")))


def test_a_model_without_images_gets_placeholders() -> None:
    """The user's turn is unchanged."""
    assert with_generated_images(drawn(), sees_images=False, most=4)[1:] == [
        AssistantMessage(NO_IMAGE),
        UserMessage("Brighter."),
    ]


def test_only_the_newest_images_are_sent() -> None:
    """An image may have some megabytes; older ones become placeholders."""
    chat = [*drawn(count=3), *drawn(count=3)[1:]]
    users = [m for m in with_generated_images(chat, sees_images=True, most=4) if isinstance(m, UserMessage)]
    assert [sum(isinstance(part, ImagePart) for part in m.content) for m in users if m.content != "Draw."] == [1, 3]


def test_images_beyond_the_size_limit_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest images are sent first; older ones and ones that are too large become placeholders."""
    monkeypatch.setattr(message_order, "MAX_IMAGE_CHARACTERS", 2 * len(PNG))
    large = ImagePart(PNG + "A" * len(PNG) * 2)
    chat = [*drawn(count=2), AssistantMessage("", images=(large, IMAGE)), UserMessage("Darker.")]
    users = [m for m in with_generated_images(chat, sees_images=True, most=4) if isinstance(m, UserMessage)]
    assert [[p for p in m.content if isinstance(p, ImagePart)] for m in users[1:]] == [[IMAGE], [IMAGE]]


def test_an_image_of_the_own_run_becomes_a_placeholder() -> None:
    """The image's own run has no later user turn that could contain it."""
    assert with_generated_images(drawn(after=False), sees_images=True, most=4)[1] == AssistantMessage(DREW)


def test_an_image_counts_towards_the_size_of_a_run() -> None:
    """An image is most of its event's size in the journal, although the event has no text."""
    assert size_of([Content("x"), Content("", images=[Image(PNG)])]) > len(PNG)


@pytest.mark.parametrize(("level", "count"), [(0, 3), (1, 1), (2, 0), (6, 0)])
def test_generated_images_are_left_out_before_text(level: int, count: int) -> None:
    """A conversation that is too long for its model first loses the generated images."""
    context = context_for(messages=drawn(count=3))
    context.degradation.truncation = level
    parts = [
        part for m in history_for(context) if isinstance(m, UserMessage) and m.content != "Draw." for part in m.content
    ]
    assert sum(isinstance(part, ImagePart) for part in parts) == count


async def test_an_image_is_estimated_in_image_tokens() -> None:
    """The estimate of a prompt counts an image's tokens, not the characters of its file."""
    budget = Budget(1.0, Prices(1.0, 1.0))
    large = ImagePart(PNG + "A" * 1_000_000)
    assert await budget.price_of_prompt([UserMessage((large,))], ()) == IMAGE_TOKENS
    assert await budget.price_of_prompt([AssistantMessage("", images=(large,))], ()) == IMAGE_TOKENS


def test_generated_images_count_towards_the_weight() -> None:
    """The weight that decides about the offload thread includes a model's own images."""
    assert characters_of([AssistantMessage("", images=(ImagePart(PNG * 100),))], 10**9) > 100 * len(PNG)
