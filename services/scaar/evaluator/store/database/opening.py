"""A database opened: reading and writing in transactions, its errors those of the core."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    InvalidRequest,
    NotFound,
    ScaarError,
)
from scaar.evaluator.store.database.tables import TENANTS

DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
BUSY_TIMEOUT_MS = 30_000
_READS = "scaar_reads"
_TRIAL_S, _TRIAL_EVERY_S = 10.0, 3.0
_NOBODY = ""
"""A name that no tenant has, whose row is written to see whether rows can be."""
_TRANSIENT = ("08", "40", "53", "57")
"""Classes of PostgreSQL error codes (its Appendix A) after which a transaction may be tried again:
connection failures, rolled back transactions, insufficient resources such as connections or disk
space, and operator intervention, such as a server that is starting up or shutting down."""

# Callers read these; where the database is, and whose, and what it said is for the log.
_UNAVAILABLE = "the database of evaluations is not available"
_REFUSED = "the database of evaluations refused a statement"

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


class Database:
    """An open database."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._writes = engine
        self._reads = engine.execution_options(**{_READS: True})
        self._under_way: set[asyncio.Task[Any]] = set()
        self._trial: asyncio.Task[None] | None = None
        self._written_at = -math.inf

    @property
    def name(self) -> str:
        """Where it is, without its password."""
        return self._writes.url.render_as_string()

    @property
    def clock(self) -> sa.ColumnElement[float]:
        """The time by the database's own clock, in seconds since 1970, in a statement."""
        if self._writes.dialect.name == "postgresql":
            return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double)
        return (sa.func.julianday("now") - 2_440_587.5) * 86_400.0

    async def check_writable(self, *, timeout_s: float = _TRIAL_S) -> None:
        """Write a row, and take it away again, in a transaction that is committed.

        Nothing is written within some seconds of another write that succeeded.
        A trial that takes longer is not given up: the next check waits for it instead of starting
        another, so that a database that hangs holds one connection.

        Raises:
            BackendUnavailable: the database cannot be written, or not in time.
            ScaarError: it refuses.
        """
        if time.monotonic() - self._written_at < _TRIAL_EVERY_S:
            return
        if self._trial is None or self._trial.done():
            self._trial = asyncio.create_task(self.finished(self._write()))
        done, _ = await asyncio.wait((self._trial,), timeout=timeout_s)
        if not done:
            raise BackendUnavailable(
                _UNAVAILABLE, detail=f"{self.name}: no write within {timeout_s:g} s"
            )
        self._trial.result()

    async def _write(self) -> None:
        file = self._writes.url.database if self._writes.dialect.name == "sqlite" else None
        # A connection that is open would go on writing to a file that was removed.
        if file and not await asyncio.to_thread(Path(file).exists):
            raise BackendUnavailable(_UNAVAILABLE, detail=f"{self.name}: there is no such file")
        async with self.writing() as connection:
            await connection.execute(sa.insert(TENANTS).values(name=_NOBODY))
            await connection.execute(sa.delete(TENANTS).where(TENANTS.c.name == _NOBODY))

    async def finished(self, work: Coroutine[Any, Any, _Found]) -> _Found:
        """What the work gives; it comes to its end, also where who awaits it is cancelled.

        A connection is lost whose statement is broken off.
        """
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        # Where nobody waits any more, nobody else would look what it ended with.
        if not task.cancelled():
            task.exception()

    async def close(self) -> None:
        """Waits for what is under way, and closes every connection."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._writes.dispose()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, kept whole when the block ends and not at all when that raises.

        Raises:
            BackendUnavailable: the database does not answer.
            ScaarError: it refuses.
        """
        with _translated(self.name):
            async with self._writes.begin() as connection:
                yield connection
            self._written_at = time.monotonic()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """One state of the database, whatever is written meanwhile.

        Raises:
            BackendUnavailable: the database does not answer.
        """
        with _translated(self.name):
            async with self._reads.connect() as connection:
                yield connection

    def insert(self, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
        """An insert that can say what becomes of a row whose key is there."""
        if self._writes.dialect.name == "postgresql":
            return postgresql.insert(table)
        return sqlite.insert(table)


@asynccontextmanager
async def open_database(url: str) -> AsyncIterator[Database]:
    """The database at a URL, ``sqlite:///FILE`` or ``postgresql://...``; its tables as they are.

    Raises:
        InvalidRequest: it is no such URL.
        CapabilityMissing: its driver is not installed.
    """
    database = Database(_engine(_checked(url)))
    try:
        yield database
    finally:
        # Whoever is cancelled here would leave connections behind.
        await asyncio.shield(database.close())


def to_its_end(
    function: Callable[Concatenate[Database, _Given], Coroutine[Any, Any, _Found]],
) -> Callable[Concatenate[Database, _Given], Awaitable[_Found]]:
    """The function of a database, which comes to its end whoever is cancelled meanwhile."""

    @wraps(function)
    async def finished(database: Database, /, *args: _Given.args, **given: _Given.kwargs) -> _Found:
        return await database.finished(function(database, *args, **given))

    return finished


def file_of(url: str) -> Path | None:
    """The file of an SQLite database; None of any other."""
    checked = _checked(url)
    found = checked.get_backend_name() == "sqlite" and checked.database
    return Path(found) if found else None


def require_file(url: str) -> None:
    """Passes a URL of an SQLite file that is there, and that of any other database.

    Raises:
        NotFound: there is no such file.
    """
    file = file_of(url)
    if file is not None and not file.exists():
        raise NotFound(f"there is no database {file}; make it with scaar db upgrade")


def _checked(url: str) -> URL:
    try:
        read = make_url(url)
    except ArgumentError:
        read = None
    if read is None or read.get_backend_name() not in DRIVERS:
        # Not repeated: it may hold a password.
        raise InvalidRequest.of("database", "must be sqlite:///FILE or postgresql://HOST/NAME")
    return read.set(drivername=DRIVERS[read.get_backend_name()])


def _engine(url: URL) -> AsyncEngine:
    try:
        if url.get_backend_name() == "postgresql":
            return create_async_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
        engine = create_async_engine(url)
    except ModuleNotFoundError as error:
        text = f"the database needs {error.name}: install scaar[evaluator,postgresql]"
        raise CapabilityMissing(text) from error
    sa.event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    sa.event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    # The driver must begin no transactions of its own.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    # A writer takes its turn at once; one that read first could not wait for it.
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        lost = error.connection_invalidated or isinstance(
            error, sa.exc.OperationalError | sa.exc.InterfaceError
        )
        transient = str(getattr(error.orig, "sqlstate", "")).startswith(_TRANSIENT)
        kind = BackendUnavailable if lost or transient else ScaarError
        text = _UNAVAILABLE if kind is BackendUnavailable else _REFUSED
        raise kind(text, detail=f"{name}: {error.orig}") from error
    except SQLAlchemyError as error:
        raise ScaarError(_REFUSED, detail=f"{name}: {error}") from error
    except OSError as error:
        raise BackendUnavailable(_UNAVAILABLE, detail=f"{name}: {error}") from error
    except Exception as error:
        # Of what goes wrong while it connects, asyncpg's own errors come as they are.
        if not type(error).__module__.startswith("asyncpg."):
            raise
        raise BackendUnavailable(_UNAVAILABLE, detail=f"{name}: {error}") from error
