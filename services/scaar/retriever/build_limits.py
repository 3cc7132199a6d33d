"""How much one build of an index may read: passages, bytes and blank lines."""

from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage

MAX_BLANK_LINES = 1_000_000
"""Lines of white space alone that a file of passages may have; gzip packs them to nothing."""


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """The limits of the settings ``build_max_passages`` and ``build_max_gb``."""

    passages: int = 100_000_000
    gigabytes: float = 100.0

    def check(self, field: str, *, passages: int, size_bytes: int) -> None:
        """Pass a build that has read so much.

        Raises:
            InvalidRequest: it is too much, naming the limit and its setting.
        """
        if passages > self.passages:
            setting = "SCAAR_RETRIEVER_BUILD_MAX_PASSAGES"
            text = f"must be at most {self.passages:,} passages in one build ({setting})"
            raise InvalidRequest.of(field, text)
        if size_bytes > self.gigabytes * 1e9:
            setting = "SCAAR_RETRIEVER_BUILD_MAX_GB"
            text = f"must be at most {self.gigabytes:g} GB in one build, unpacked ({setting})"
            raise InvalidRequest.of(field, text)


def size_of(passage: Passage) -> int:
    """The bytes of a passage's texts in UTF-8."""
    values = (value for each in passage.metadata for value in each.values)
    texts = (passage.id, passage.title, passage.text, *values)
    return sum(len(each.encode(errors="surrogatepass")) for each in texts)
