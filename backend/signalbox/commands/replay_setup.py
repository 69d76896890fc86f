"""What a replay works with: the settings' upstream, catalogue, tool schemas and database; nothing of it is written."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from signalbox.app.config import Settings
from signalbox.app.database_setup import FILE, database_of, location_of
from signalbox.app.logs.setup import configure_logs
from signalbox.app.shadow.cases import Cases
from signalbox.app.tool_setup import Toolbox, built_in_tools, products_of, search_of
from signalbox.app.upstreams.setup import upstream_of
from signalbox.chat.plan import trusted_names
from signalbox.core.errors import StoreError
from signalbox.replay.case import Case
from signalbox.replay.journals import Journal, NoJournal, load_journal, newest_run_ids, parse_snapshot
from signalbox.replay.recorded_tools import RecordedTools
from signalbox.services.catalog import ModelCatalog
from signalbox.services.http.client import HttpClient
from signalbox.services.search import Client, search_client
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
        return await with_database(self.settings, lambda database: load_journal(database, name, ours))

    async def newest(self, count: int) -> list[str]:
        """Name the newest runs."""
        return await with_database(self.settings, lambda database: newest_run_ids(database, count))

    # --- cases -------------------------------------------------------------------------------------------------

    @property
    def _cases(self) -> Cases:
        return Cases(self.settings, self.catalog, self.toolbox)

    async def case(self, journal: Journal, model: str) -> Case:
        """Plan a journal's run once more, with everything that it was given; raises NoJournal, RequestError."""
        return await self._cases.case(journal, model)

    def missing(self, journal: Journal) -> list[str]:
        """Name the tools of a run that are not installed here."""
        return self._cases.missing(journal)

    def recorded(self, journal: Journal) -> RecordedTools:
        """Return tools that answer from a journal."""
        return self._cases.recorded(journal)


async def with_database(settings: Settings, work: Callable[[Database], Awaitable[Found]]) -> Found:
    """Read in the database as it is: it is neither made nor brought up to another version here. Raises NoJournal."""
    if settings.database_url is None and not (settings.signalbox_data_dir / FILE).is_file():
        raise NoJournal(f"There is no database {location_of(settings)}. Set SIGNALBOX_DATA_DIR, or name a file.")
    database = database_of(settings, settings.signalbox_data_dir)
    try:
        return await work(database)
    except StoreError:
        raise NoJournal(
            f"The database {location_of(settings)} cannot be read. Check that it is running, and that "
            "this version of Signalbox was started on it once."
        ) from None
    finally:
        await database.aclose()


def _content_of(name: str) -> bytes | None:
    """Read the file of this name, None where it names none."""
    path = Path(name)
    return path.read_bytes() if path.is_file() else None


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
