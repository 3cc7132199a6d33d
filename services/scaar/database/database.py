"""The open database: transactions, and errors translated to those of the core."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
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

DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
BUSY_TIMEOUT_MS = 30_000
_READS = "scaar_reads"
_TRIAL_S, _TRIAL_EVERY_S = 10.0, 3.0
_TRANSIENT = ("08", "40", "53", "57")
"""Classes of PostgreSQL error codes (its Appendix A) after which a transaction may be tried again:
connection failures, rolled back transactions, insufficient resources such as connections or disk
space, and operator intervention, such as a server that is starting up or shutting down."""

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one service in a database.

    ``contents`` is what they hold, in messages: ``evaluations``. ``migrations`` is the folder of
    the migrations, ``version_table`` the table with their revision, and ``upgrade`` the command
    that runs them. Callers see messages with ``contents`` only; the address of the database and its
    own message go to the log.
    """

    contents: str
    migrations: Path
    version_table: str
    upgrade: str
    migrates_files: bool = False
    """Whether an SQLite file is migrated when it is opened: every migration must let processes of
    the version before read and write."""

    @property
    def unavailable(self) -> str:
        """The message for a database that does not respond."""
        return f"the database of {self.contents} is not available"

    @property
    def refused(self) -> str:
        """The message for a statement that the database refuses."""
        return f"the database of {self.contents} refused a statement"


class Database:
    """An open database with the tables of one service."""

    def __init__(self, engine: AsyncEngine, schema: Schema) -> None:
        self.schema = schema
        self._writes = engine
        self._reads = engine.execution_options(**{_READS: True})
        self._running: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._trial: asyncio.Task[None] | None = None
        self._written_at = -math.inf

    @property
    def name(self) -> str:
        """The URL of the database, without its password."""
        return self._writes.url.render_as_string()

    @property
    def clock(self) -> sa.ColumnElement[float]:
        """An SQL expression for the time of the database's clock, in seconds since 1970."""
        if self._writes.dialect.name == "postgresql":
            return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double)
        return (sa.func.julianday("now") - 2_440_587.5) * 86_400.0

    async def check_writable(self, *, timeout_s: float = _TRIAL_S) -> None:
        """Write a row again in a committed transaction.

        Nothing is written within a few seconds of another successful write. A check that times out
        is not cancelled: the next call waits for it instead of starting another one, so that a
        database that hangs holds one connection.

        Raises:
            BackendUnavailable: the database cannot be written, or not in time.
            ScaarError: the database refuses the statement.
        """
        if time.monotonic() - self._written_at < _TRIAL_EVERY_S:
            return
        if self._trial is None or self._trial.done():
            self._trial = asyncio.create_task(self.shielded(self._write()))
        done, _ = await asyncio.wait((self._trial,), timeout=timeout_s)
        if not done:
            raise BackendUnavailable(
                self.schema.unavailable, detail=f"{self.name}: no write within {timeout_s:g} s"
            )
        self._trial.result()

    async def _write(self) -> None:
        file = self._writes.url.database if self._writes.dialect.name == "sqlite" else None
        # An open connection would continue to write to a file that was removed.
        if file and not await asyncio.to_thread(Path(file).exists):
            raise BackendUnavailable(
                self.schema.unavailable, detail=f"{self.name}: the file does not exist"
            )
        async with self.writing() as connection:
            version = sa.table(self.schema.version_table, sa.column("version_num"))
            column = version.c.version_num
            await connection.execute(sa.update(version).values(version_num=column))

    async def shielded(self, work: Coroutine[Any, Any, _Found]) -> _Found:
        """Await the work, which runs to its end even if its caller is cancelled.

        A cancelled statement would cost its connection.

        Raises:
            BackendUnavailable: the database is being closed.
        """
        if self._closing:
            work.close()
            raise BackendUnavailable(self.schema.unavailable, detail=f"{self.name}: closed")
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        # Retrieve the exception, or asyncio logs it as never retrieved.
        if not task.cancelled():
            task.exception()

    async def close(self) -> None:
        """Refuse new work, wait for running work, and close every connection."""
        self._closing = True
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._writes.dispose()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A write transaction, committed when the block ends and rolled back if it raises.

        Raises:
            BackendUnavailable: the database does not respond.
            ScaarError: the database refuses a statement.
        """
        with _translated(self.name, self.schema):
            async with self._writes.begin() as connection:
                yield connection
            self._written_at = time.monotonic()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A read transaction with a consistent snapshot of the database.

        Raises:
            BackendUnavailable: the database does not respond.
        """
        with _translated(self.name, self.schema):
            async with self._reads.connect() as connection:
                yield connection

    def insert(self, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
        """Return an insert that supports ``ON CONFLICT``."""
        if self._writes.dialect.name == "postgresql":
            return postgresql.insert(table)
        return sqlite.insert(table)


@asynccontextmanager
async def open_database(url: str, schema: Schema) -> AsyncIterator[Database]:
    """Open the database at a URL, ``sqlite:///FILE`` or ``postgresql://...``, without a migration.

    Raises:
        InvalidRequest: the URL is not one of these.
        CapabilityMissing: the driver is not installed.
    """
    database = Database(_engine(_checked(url)), schema)
    try:
        yield database
    finally:
        # A cancellation here would leave connections open.
        await asyncio.shield(database.close())


def run_to_end(
    function: Callable[Concatenate[Database, _Given], Coroutine[Any, Any, _Found]],
) -> Callable[Concatenate[Database, _Given], Awaitable[_Found]]:
    """Decorate a function of a database to run to its end even if its caller is cancelled."""

    @wraps(function)
    async def shielded(database: Database, /, *args: _Given.args, **given: _Given.kwargs) -> _Found:
        return await database.shielded(function(database, *args, **given))

    return shielded


def file_of(url: str) -> Path | None:
    """Return the file of an SQLite database; None for any other database."""
    checked = _checked(url)
    found = checked.get_backend_name() == "sqlite" and checked.database
    return Path(found) if found else None


def create_folder(url: str, schema: Schema) -> bool:
    """Return whether the file of an SQLite database is missing, and create its folder if it is.

    Raises:
        BackendUnavailable: the file is missing, and the folder cannot be created.
    """
    file = file_of(url)
    if file is None:
        return False
    try:
        if file.exists():
            return False
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        detail = f"{file} cannot be created: {error.strerror}"
        raise BackendUnavailable(schema.unavailable, detail=detail) from error
    return True


def require_file(url: str, schema: Schema) -> None:
    """Check that the file of an SQLite database exists; accept any other database.

    Raises:
        NotFound: the file does not exist.
    """
    file = file_of(url)
    if file is not None and not file.exists():
        raise NotFound(f"there is no database {file}; create it with {schema.upgrade}")


def _checked(url: str) -> URL:
    try:
        read = make_url(url)
    except (ArgumentError, ValueError):  # ValueError: the port is not a number
        read = None
    if read is None or read.get_backend_name() not in DRIVERS:
        # The URL is not repeated: it may contain a password.
        raise InvalidRequest.of("database", "must be sqlite:///FILE or postgresql://HOST/NAME")
    if read.get_backend_name() == "sqlite" and (read.database or ":memory:") == ":memory:":
        raise InvalidRequest.of("database", "must be a file, sqlite:///FILE, not in memory")
    return read.set(drivername=DRIVERS[read.get_backend_name()])


def _engine(url: URL) -> AsyncEngine:
    try:
        if url.get_backend_name() == "postgresql":
            return create_async_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
        engine = create_async_engine(url)
    except ModuleNotFoundError as error:
        extras = "scaar[records] or scaar[evaluator], and scaar[postgresql] for PostgreSQL"
        text = f"the database needs {error.name}: install {extras}"
        raise CapabilityMissing(text) from error
    sa.event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    sa.event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    # The driver must not start transactions of its own.
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
    # A writer locks immediately: SQLite fails a transaction that reads first and then writes.
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


@contextmanager
def _translated(name: str, schema: Schema) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        lost = error.connection_invalidated or isinstance(
            error, sa.exc.OperationalError | sa.exc.InterfaceError
        )
        transient = str(getattr(error.orig, "sqlstate", "")).startswith(_TRANSIENT)
        kind = BackendUnavailable if lost or transient else ScaarError
        text = schema.unavailable if kind is BackendUnavailable else schema.refused
        raise kind(text, detail=f"{name}: {error.orig}") from error
    except SQLAlchemyError as error:
        raise ScaarError(schema.refused, detail=f"{name}: {error}") from error
    except OSError as error:
        raise BackendUnavailable(schema.unavailable, detail=f"{name}: {error}") from error
    except Exception as error:
        # SQLAlchemy does not wrap asyncpg's errors while it connects.
        if not type(error).__module__.startswith("asyncpg."):
            raise
        raise BackendUnavailable(schema.unavailable, detail=f"{name}: {error}") from error
