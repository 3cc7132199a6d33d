"""SHA-256 of a model's file."""

import asyncio
import hashlib
from pathlib import Path

from scaar.core.errors import NotFound

_BLOCK_BYTES = 16 << 20


async def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits. It can be cancelled between blocks.

    Raises:
        NotFound: the file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with await asyncio.to_thread(path.open, "rb") as file:
            while block := await asyncio.to_thread(file.read, _BLOCK_BYTES):
                await asyncio.to_thread(digest.update, block)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error
    return digest.hexdigest()
