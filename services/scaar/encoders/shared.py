"""Sentence encoders that several parts of a process use, each opened once."""

import threading
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from scaar.encoders.sentence_encoder import SentenceEncoder

_LOCK: Final = threading.Lock()
_OPENED: Final[WeakValueDictionary[tuple[Path, int], SentenceEncoder]] = WeakValueDictionary()


def open_shared_encoder(folder: Path, *, threads: int) -> SentenceEncoder:
    """Return the encoder in a folder, opened unless a part of this process has it open.

    A scorer and an index of vectors with the same encoder need its 100 MB of memory once.

    Raises: as :meth:`SentenceEncoder.open`.
    """
    key = (folder.resolve(), threads)
    with _LOCK:
        encoder = _OPENED.get(key)
        if encoder is None:
            encoder = _OPENED[key] = SentenceEncoder.open(folder, threads=threads)
        return encoder
