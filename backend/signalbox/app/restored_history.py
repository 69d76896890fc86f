"""The history of a client that keeps it itself, with the turns that were stored here."""

from collections.abc import Mapping

from msgspec import Struct

from signalbox.app.conversation_binding import cited_of
from signalbox.app.deps import Services
from signalbox.chat.plan import trusted_names
from signalbox.conversations.history import stored_turns
from signalbox.conversations.restored_turns import restored, runs_named_in
from signalbox.core.ask import Ask
from signalbox.core.messages import Message
from signalbox.offload import offloaded


class History(Struct, frozen=True):
    """What the model receives; `cited` are the numbered sources of the tool loop that it continues."""

    messages: list[Message]
    open_loop: int = 0
    cited: Mapping[int, tuple[str, str]] = {}


async def restored_history(ask: Ask, owner: str, services: Services, size: int) -> History:
    """Return the history of a request of `size` bytes; raises StoreError. Only the owner's runs count."""
    messages = ask.conversation
    named = runs_named_in(messages)
    for run_id in named:
        if services.runs.live(run_id) is not None:  # its end may not be on disk yet
            await services.runs.store.flush(run_id)
    stored = await stored_turns(services.database, named, owner, trusted_names(services.executor.tools))
    ours = services.executor.by_name.keys() - {tool.name for tool in ask.client_tools}
    found = await offloaded(lambda: restored(messages, stored, ours), size=size)
    sources = await cited_of(found.runs, services) if found.runs else {}
    return History(found.messages, found.open_loop, sources)
