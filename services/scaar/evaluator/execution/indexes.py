"""Indexes beside each other: what is compared is how they are searched, and not what they hold."""

from collections.abc import Mapping, Sequence

from scaar.core.errors import InvalidRequest
from scaar.core.types import Provenance
from scaar.evaluator.records import Setting


def check_indexes(settings: Sequence[Setting], made: Mapping[str, Provenance]) -> None:
    """Passes settings whose indexes, where each has its own, hold the same passages.

    Raises:
        InvalidRequest: they do not, or one does not say what it holds; naming the indexes.
    """
    contents = {
        each.index: made[each.label].index_content for each in settings if each.index is not None
    }
    for name, content in contents.items():
        if not content:
            text = f"{name} was built by a version that keeps no digest of its passages, and cannot"
            how = "be held against another: build it again with scaar index build --replace"
            raise InvalidRequest.of("--index", f"{text} {how}")
    if len(set(contents.values())) > 1:
        told = ", ".join(f"{name} (passages {text[:12]})" for name, text in contents.items())
        raise InvalidRequest.of("--index", f"must hold the same passages: {told}")
