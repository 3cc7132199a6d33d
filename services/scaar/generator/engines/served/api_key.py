"""API key of a model server, from the settings or a file."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr

from scaar.core.errors import InvalidRequest, NotFound
from scaar.generator.settings import GeneratorSettings
from scaar.runtime.watched_files import WatchedFiles

_LONGEST = 10_000

ApiKey = Callable[[], SecretStr | None]
"""Returns the current key; None if none is set."""


async def read_api_key(settings: GeneratorSettings) -> ApiKey:
    """Return the key, without surrounding white space. A file is reloaded when it changes.

    Errors do not quote the key.

    Raises:
        NotFound: the file cannot be read.
        InvalidRequest: the key is empty, or is not one line of printable ASCII.
    """
    if settings.api_key is not None:
        given = _key("SCAAR_GENERATOR_API_KEY", settings.api_key.get_secret_value())
        return lambda: given
    if (path := settings.api_key_file) is not None:
        return (await asyncio.to_thread(_watched, path)).current
    return lambda: None


def _watched(path: Path) -> WatchedFiles[SecretStr]:
    return WatchedFiles([path], lambda: _key("SCAAR_GENERATOR_API_KEY_FILE", _read(path)))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST + 1).decode("ascii", errors="replace")
    except OSError as error:
        raise NotFound(f"{path}: the API key file cannot be read: {error.strerror}") from error


def _key(setting: str, text: str) -> SecretStr:
    key = text.strip()
    if not key:
        raise InvalidRequest.of(setting, "must not be empty")
    if len(key) > _LONGEST or not (key.isascii() and key.isprintable()):
        limit = f"must be one line of printable ASCII, at most {_LONGEST:,} characters"
        raise InvalidRequest.of(setting, limit)
    return SecretStr(key)
