"""The secret of the delimiters is stored in the database, so every worker and every start uses the same."""

import os
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile

import pytest
from signalbox.app.config import SettingsError
from signalbox.app.shared_settings import key_delimiters_from
from signalbox.core.security import untrusted
from signalbox.store.engines.sqlite import SqliteDatabase

from tests.support.processes import start
from tests.support.running_app import settings_for

_CODE = """
import asyncio, sys
from pathlib import Path
from signalbox.app.config import Settings
from signalbox.app.shared_settings import key_delimiters_from
from signalbox.core.security.untrusted import delimited
from signalbox.store.engines.sqlite import SqliteDatabase

async def main():
    database = SqliteDatabase(Path(sys.argv[1]))
    await database.open()
    await key_delimiters_from(Settings(_env_file=None), database)
    await database.aclose()
    print(delimited("a page", "read_url", "call_1"))

asyncio.run(main())
"""


def delimited(*files: Path) -> list[bytes]:
    """Delimit the same text in one process per database, all at once."""
    with ExitStack() as outputs, Path(os.devnull).open("rb") as stdin, TemporaryFile() as errors:
        said = [outputs.enter_context(TemporaryFile()) for _ in files]
        started = [
            start(["-c", _CODE, str(file)], file.parent, {}, stdin, stdout, errors)
            for file, stdout in zip(files, said, strict=True)
        ]
        statuses = [process.wait(30) for process in started]
        errors.seek(0)
        assert (statuses, errors.read()) == ([0] * len(files), b"")
        for stdout in said:
            stdout.seek(0)
        return [stdout.read() for stdout in said]


@pytest.mark.anyio
async def test_g03_c15_workers_of_one_database_delimit_alike(tmp_path: Path) -> None:
    """Two processes that start at once on one database use the same delimiters; another database has others."""
    database = SqliteDatabase(tmp_path / "one.db")
    await database.open()
    await database.aclose()
    one, same, other = delimited(tmp_path / "one.db", tmp_path / "one.db", tmp_path / "other.db")
    assert b"a page" in one
    assert one == same
    assert one != other
    assert delimited(tmp_path / "one.db") == [one]


@pytest.mark.anyio
async def test_g03_a_start_without_the_secret_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the database returns no secret, the start fails with an error and stores nothing."""
    monkeypatch.setattr(untrusted, "_secret", untrusted._secret)
    before = untrusted._secret
    database = SqliteDatabase(tmp_path / "never-opened.db")
    with pytest.raises(SettingsError, match="cannot be opened"):
        await key_delimiters_from(settings_for(tmp_path), database)
    await database.aclose()
    assert before == untrusted._secret
