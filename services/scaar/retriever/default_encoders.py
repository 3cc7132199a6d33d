"""The encoders of providers of defaults, for indexes of retrievers without an encoder."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.core.defaults.text_kinds import default_encoder, kind_of_name
from scaar.core.distributions import library_required

if TYPE_CHECKING:
    from scaar.encoders.sentence_encoder import SentenceEncoder


class DefaultEncoders:
    """Returns the default encoder of an index. Thread-safe.

    An encoder is opened when an index needs it, so that indexes of words do not wait for it.
    """

    def __init__(self, *, threads: int) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._opened: dict[Path, SentenceEncoder] = {}

    def __call__(self, index: str) -> "SentenceEncoder | None":
        """Return the encoder for the index of this name; None if none is installed.

        Raises:
            NotFound, DataCorrupt: the folder of the encoder is missing or damaged.
            CapabilityMissing: the libraries of the encoder are not installed.
        """
        folder = default_encoder(kind_of_name(index))
        if folder is None:
            return None
        with self._lock:
            if folder not in self._opened:
                self._opened[folder] = open_encoder_in(folder, threads=self._threads)
            return self._opened[folder]


def open_encoder_in(folder: Path, *, threads: int) -> "SentenceEncoder":
    """Open the encoder in a folder. Blocks while it is read.

    Raises:
        NotFound, DataCorrupt: the folder is missing, or a file is damaged.
        CapabilityMissing: the libraries of the encoder are not installed.
    """
    with library_required("the encoder", "dense"):
        from scaar.encoders.shared import open_shared_encoder
    return open_shared_encoder(folder, threads=threads)
