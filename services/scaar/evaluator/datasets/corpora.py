"""The passages of data sets, to build an index from."""

from collections.abc import Iterator
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.evaluator.datasets import KINDS, kind_of
from scaar.evaluator.datasets.kind import Source
from scaar.evaluator.datasets.loader import check_source


def open_passages(
    name: str, path: Path | None = None, *, seed: int | None = None
) -> Iterator[Passage]:
    """Return the passages of a data set, one per title, read lazily.

    The supports of its questions refer to their ids.

    Raises:
        InvalidRequest: the data set is unknown or has no passages, or the file cannot be read or
            has another layout; names file, record and field.
    """
    kind, source = kind_of(name), Source(path, seed=seed)
    if kind.passages is None:
        known = ", ".join(kind.name for kind in KINDS.values() if kind.passages is not None)
        raise InvalidRequest.of("dataset", f"{name} has no passages; these have: {known}")
    check_source(kind, source)
    return _some(kind.passages(source), source)


def _some(passages: Iterator[Passage], source: Source) -> Iterator[Passage]:
    first = next(passages, None)
    if first is None:
        raise InvalidRequest.of("path", f"{source.path} contains no passage")
    yield first
    yield from passages
