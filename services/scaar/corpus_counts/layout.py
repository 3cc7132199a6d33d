"""Layout of a file of corpus counts: a header of one JSON line, then sections of numbers and words.

The sections are the offset of each word in the vocabulary, the offset of its first position, the
position of the first word of each text, the positions of the words, and the vocabulary in UTF-8.
Words are sorted by their bytes. The first two sections have numbers of 8 bytes, the next two of 4;
the first three have one more number, the end. A position counts words, and the ends of the parts
of texts, from the start of the corpus.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from scaar.core.errors import DataCorrupt

FORMAT = 1
"""The version of the file format."""
KIND = "corpus counts"
MAX_HEADER_BYTES = 4096
MAX_POSITIONS = 2**32 - 1
"""Maximum number of positions of a corpus, which have 4 bytes."""
_HOW = "count the corpus again with scaar corpus count"


@dataclass(frozen=True, slots=True)
class Header:
    """The sizes of a file's sections.

    ``texts`` and ``words`` are the numbers of texts and of words of the corpus, ``vocabulary`` that
    of different words, and ``vocabulary_bytes`` their length in UTF-8.
    """

    texts: int
    words: int
    vocabulary: int
    vocabulary_bytes: int
    byte_order: str = sys.byteorder

    @property
    def section_bytes(self) -> tuple[int, int, int, int, int]:
        """The length of each section, in bytes."""
        offsets = 8 * (self.vocabulary + 1)
        return offsets, offsets, 4 * (self.texts + 1), 4 * self.words, self.vocabulary_bytes

    def digest(self, content: Iterable[Any]) -> str:
        """Return the SHA-256 of the sizes and of the content of all sections."""
        found = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode())
        for part in content:
            found.update(part)
        return found.hexdigest()

    def to_bytes(self, digest: str) -> bytes:
        """Return the first line of the file, whose length is a multiple of 8."""
        document = {"kind": KIND, "format": FORMAT, **asdict(self), "sha256": digest}
        line = json.dumps(document).encode()
        return line + b" " * (-(len(line) + 1) % 8) + b"\n"


def read_header(start: bytes, where: str) -> tuple[Header, str, int]:
    """Return the header of a file's first bytes, the digest, and the length of the header.

    Raises:
        DataCorrupt: the file is of another kind, format or byte order, or a field is wrong.
    """
    line, end, _ = start.partition(b"\n")
    try:
        document = json.loads(line)
    except ValueError:
        document = None
    if not end or not isinstance(document, dict) or document.get("kind") != KIND:
        raise DataCorrupt(
            f"{where}: is no file of corpus counts: write one with scaar corpus count"
        )
    if (form := document.get("format")) != FORMAT:
        raise DataCorrupt(f"{where}: is of format {form!r}; this scaar reads {FORMAT}: {_HOW}")
    if (order := document.get("byte_order")) != sys.byteorder:
        text = f"has numbers of byte order {order!r}, and this machine has {sys.byteorder!r}"
        raise DataCorrupt(f"{where}: {text}: {_HOW}")
    digest = document.get("sha256")
    if not isinstance(digest, str):
        raise DataCorrupt(f"{where}: sha256 must be a string, not {digest!r}: {_HOW}")
    texts, words, vocabulary, size = (_size(document, name, where) for name in _SIZES)
    return Header(texts, words, vocabulary, size), digest, len(line) + 1


_SIZES = ("texts", "words", "vocabulary", "vocabulary_bytes")


def _size(document: dict[str, Any], name: str, where: str) -> int:
    value = document.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 2**48:
        raise DataCorrupt(f"{where}: {name} must be a whole number, not {value!r}: {_HOW}")
    return value


def damaged(where: str, reason: str) -> DataCorrupt:
    """Return the error of a file whose content is not as its header states."""
    return DataCorrupt(f"{where}: is damaged: {reason}: {_HOW}")
