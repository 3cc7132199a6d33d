"""Copies of SQLite databases in use."""

import sqlite3
from contextlib import closing
from pathlib import Path

from scaar.core.errors import AlreadyExists, InvalidRequest, ScaarError
from scaar.database.database import Schema, file_of, require_file


def back_up(url: str, schema: Schema, file: Path) -> None:
    """Copy an SQLite database, which processes may use meanwhile, to a new file.

    The copy has the content of one moment.

    Raises:
        InvalidRequest: the database is not one of SQLite.
        NotFound: the database does not exist.
        AlreadyExists: the file exists.
        ScaarError: the database cannot be read, or the file not be written; no file is left.
    """
    source = file_of(url)
    if source is None:
        raise InvalidRequest.of("--database", "is not SQLite; back up PostgreSQL with pg_dump")
    require_file(url, schema)
    if file.exists():
        raise AlreadyExists(f"{file} exists")
    try:
        with closing(sqlite3.connect(source)) as database, closing(sqlite3.connect(file)) as copy:
            database.backup(copy)
    except sqlite3.Error as error:
        file.unlink(missing_ok=True)
        raise ScaarError(f"{source} cannot be copied to {file}: {error}") from error
