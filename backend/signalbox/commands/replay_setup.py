"""What a replay works with: the settings' upstream, catalogue, tool schemas and database; nothing of it is written."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from msgspec.structs import replace
from pydantic import ValidationError

from signalbox.app.config import Settings
from signalbox.app.database_setup import FILE, database_of, location_of
from signalbox.app.logs.setup import configure_logs
from signalbox.app.tool_setup import Toolbox, built_in_tools, products_of, search_of
from signalbox.app.upstreams.setup import upstream_of
from signalbox.chat.plan import ServerTerms, plan_of, trusted_names, with_trusted_results
from signalbox.conversations.restored_turns import restored
from signalbox.core.ask import Ask
from signalbox.core.errors import StoreError
from signalbox.core.messages import JsonObject, Message
from signalbox.core.records import V1
from signalbox.core.tools import Tool
from signalbox.intakes.intake import Body, Tools
from signalbox.intakes.v1 import ask_of
from signalbox.intakes.v1_question import as_v1_request, choice_in, client_tools_in, extra_params_in
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.replay.case import Case
from signalbox.replay.journals import Journal, NoJournal, load_journal, newest_run_ids, parse_snapshot
from signalbox.replay.recorded_tools import RecordedTools, placeholder_tools
from signalbox.services.catalog import ModelCatalog
from signalbox.services.http.client import HttpClient
from signalbox.services.search import Client, search_client
from signalbox.services.tool_executor import ToolExecutor
from signalbox.services.upstream import UpstreamClient
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.store.database import Database
from signalbox.tools.registry import from_packages

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Workbench:
    """The settings' upstream and what is known of it; `second` is for the other loop, where each loop has one."""

    settings: Settings
    upstream: UpstreamClient
    second: UpstreamClient
    catalog: ModelCatalog
    toolbox: Toolbox

    @property
    def is_real(self) -> bool:
        """Whether a real model is asked."""
        return not self.settings.is_simulated

    # --- journals ----------------------------------------------------------------------------------------------

    async def journal(self, name: str) -> Journal:
        """Find the journal of a run or a save, or in a file; raises NoJournal, SettingsError."""
        if (data := _content_of(name)) is not None:
            return parse_snapshot(data, name)
        ours = trusted_names(self.toolbox.tools)
        return await self._with_database(lambda database: load_journal(database, name, ours))

    async def newest(self, count: int) -> list[str]:
        """Name the newest runs."""
        return await self._with_database(lambda database: newest_run_ids(database, count))

    async def _with_database(self, work: Callable[[Database], Awaitable[Found]]) -> Found:
        """Read in the database as it is: it is neither made nor brought up to another version here."""
        if self.settings.database_url is None and not (self.settings.signalbox_data_dir / FILE).is_file():
            raise NoJournal(
                f"There is no database {location_of(self.settings)}. Set SIGNALBOX_DATA_DIR, or name a file."
            )
        database = database_of(self.settings, self.settings.signalbox_data_dir)
        try:
            return await work(database)
        except StoreError:
            raise NoJournal(
                f"The database {location_of(self.settings)} cannot be read. Check that it is running, and that "
                "this version of Signalbox was started on it once."
            ) from None
        finally:
            await database.aclose()

    # --- cases -------------------------------------------------------------------------------------------------

    async def case(self, journal: Journal, model: str) -> Case:
        """Plan a journal's run once more, with everything that it was given; raises NoJournal, RequestError."""
        body = _body_of(journal)
        await self.catalog.check(model)
        tools = self.tools_of(journal, body)
        ask = replace(ask_of(body, Tools({tool.spec.name: tool for tool in tools}), {}), model=model)
        if client_tools := client_tools_in(journal.question):
            ask = replace(ask, client_tools=client_tools, choice=choice_in(journal.question))
        if extra := extra_params_in(journal.question):
            ask = replace(ask, params=replace(ask.params, extra=extra))
        messages, open_loop = self._messages_of(journal, ask, tools)
        plan = plan_of(
            ask,
            messages,
            self.catalog.entry(model),
            ServerTerms(self.settings.signalbox_max_run_cost, self.toolbox.search_is_paid),
            session_id=journal.conversation_id or body.model.conversation_id,
            open_loop=open_loop,
        )
        return Case(f"{journal.run_id} {model}", plan, is_simulated=self.settings.is_simulated)

    def _messages_of(self, journal: Journal, ask: Ask, tools: Sequence[Tool]) -> tuple[Sequence[Message], int]:
        """Return what the model received, and how many messages of it belong to the tool loop that it continued."""
        if journal.messages:
            return journal.messages, journal.open_loop
        if journal.protocol == V1:
            return with_trusted_results(ask.conversation, tools), 0
        ours = {tool.spec.name for tool in self.toolbox.tools} - {tool.name for tool in ask.client_tools}
        found = restored(ask.conversation, journal.stored, ours)
        return found.messages, found.open_loop

    def tools_of(self, journal: Journal, body: Body[ChatRequest]) -> list[Tool]:
        """Return the tools of then: those asked for, else those that its requests offered."""
        if body.model.tools is not None:
            return placeholder_tools(body.model.tools, self.toolbox.tools)
        here = [tool.spec.name for tool in self.toolbox.tools if tool.unavailable is None]
        return placeholder_tools(journal.offered or here, self.toolbox.tools)

    def missing(self, journal: Journal) -> list[str]:
        """Name the tools of a run that are not installed here."""
        here = {tool.spec.name for tool in self.toolbox.tools}
        names = (tool.spec.name for tool in self.tools_of(journal, _body_of(journal)))
        return [name for name in names if name not in here]

    def recorded(self, journal: Journal) -> RecordedTools:
        """Return tools that answer from a journal."""
        tools = self.tools_of(journal, _body_of(journal))
        return RecordedTools(journal.calls, ToolExecutor(tools))


def _content_of(name: str) -> bytes | None:
    """Read the file of this name, None where it names none."""
    path = Path(name)
    return path.read_bytes() if path.is_file() else None


def _body_of(journal: Journal) -> Body[ChatRequest]:
    """Read the question of then; of a run in a conversation the words stand in the conversation."""
    question: JsonObject = dict(as_v1_request(journal.question))
    if journal.messages is not None and "messages" not in question:
        question["prompt"] = "…"
    try:
        return Body(ChatRequest.model_validate(question), question)
    except ValidationError as error:
        at = ".".join(map(str, error.errors()[0]["loc"])) or "the question"
        raise NoJournal(f"The question of {journal.run_id} cannot be asked again: {at} is not valid.") from None


def _known_tools(settings: Settings, client: Client) -> Toolbox:
    """Make every tool for what reads their schemas and runs none of them: nothing is written, nothing is asked."""
    search, why_not = search_of(settings, client, None)
    products = products_of(settings, client)
    ours = built_in_tools(settings, search, why_not, None, products)
    names = {tool.spec.name for tool in ours}
    is_paid = any(source is not None and source.paid for source in (search, products[0]))
    return Toolbox([*ours, *from_packages(names)], is_paid)


@asynccontextmanager
async def workbench(settings: Settings, *, pace: float) -> AsyncGenerator[Workbench, None]:
    """Set up what the settings say, and take it down again; `pace` is the simulator's, in seconds between pieces."""
    configure_logs("error", settings.secrets)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            HttpClient(connect_timeout=settings.openrouter_connect_timeout, idle_timeout=settings.openrouter_timeout)
        )
        services: list[UpstreamClient] = []
        for _ in range(2):
            base_url = settings.openrouter_base_url
            if settings.is_simulated:
                base_url = stack.enter_context(BackgroundSimulator(pace=pace)).base_url
            services.append(UpstreamClient(client, upstream_of(settings, base_url)))
        folder = Path(stack.enter_context(TemporaryDirectory()))
        path, dialect = folder / "models.json", services[0].dialect
        catalog = ModelCatalog(services[0].models, dialect, path, by_family=settings.is_simulated)
        searching = await stack.enter_async_context(search_client())
        yield Workbench(settings, services[0], services[1], catalog, _known_tools(settings, searching))
