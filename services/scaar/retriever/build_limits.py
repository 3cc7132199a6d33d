"""Limits on the input of one index build: passages, bytes and blank lines."""

from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage

MAX_BLANK_LINES = 1_000_000
"""Maximum number of blank lines in a file of passages. gzip compresses them to nothing, so the size
of the file does not bound them."""


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """The limits of the settings ``build_max_passages`` and ``build_max_gb``."""

    passages: int = 100_000_000
    gigabytes: float = 100.0

    def check(self, field: str, *, passages: int, size_bytes: int) -> None:
        """Validate the number of passages and the bytes that a build has read so far.

        Raises:
            InvalidRequest: a limit is exceeded; the error names the limit and its setting.
        """
        if passages > self.passages:
            setting = "SCAAR_RETRIEVER_BUILD_MAX_PASSAGES"
            text = f"must be at most {self.passages:,} passages in one build ({setting})"
            raise InvalidRequest.of(field, text)
        if size_bytes > self.gigabytes * 1e9:
            setting = "SCAAR_RETRIEVER_BUILD_MAX_GB"
            text = f"must be at most {self.gigabytes:g} GB in one build, decompressed ({setting})"
            raise InvalidRequest.of(field, text)


def size_of(passage: Passage) -> int:
    """Return the size of a passage's texts, in bytes of UTF-8."""
    values = (value for each in passage.metadata for value in each.values)
    texts = (passage.id, passage.title, passage.text, *values)
    return sum(len(each.encode(errors="surrogatepass")) for each in texts)
