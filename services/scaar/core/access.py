"""The indexes that a caller may read, and the filters that its searches there always have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.core.errors import InvalidRequest, NotFound, Violation
from scaar.core.filters import wrong_filters
from scaar.core.types import Filter

EVERY = "*"
"""The name that stands for every index that is not listed."""


@dataclass(frozen=True, slots=True)
class IndexAccess:
    """The mandatory filters of a caller by index. An index without an entry cannot be read.

    The entry :data:`EVERY` applies to each index without an entry of its own.
    """

    filters: Mapping[str, tuple[Filter, ...]]

    @property
    def reads_every_index(self) -> bool:
        """Whether the caller may read every index, with filters or without."""
        return EVERY in self.filters

    def may_read(self, index: str) -> bool:
        """Return whether the caller may read the index, which need not exist."""
        return self.reads_every_index or index in self.filters

    def mandatory_filters(self, index: str) -> tuple[Filter, ...]:
        """Return the filters that every search of the index has.

        Raises:
            NotFound: the caller may not read the index.
        """
        found = self.filters.get(index, self.filters.get(EVERY))
        if found is None:
            raise self.not_found(index)
        return found

    def filters_with(self, index: str, filters: Sequence[Filter]) -> tuple[Filter, ...]:
        """Return the filters of a request for the index, together with the mandatory ones.

        Raises:
            InvalidRequest: the filters exceed the limits of a request together.
            NotFound: the caller may not read the index.
        """
        mandatory = self.mandatory_filters(index)
        together = both(filters, mandatory)
        if len(together) > len(filters) and not wrong_filters(filters):
            added = f"with the {len(mandatory)} that the access rules of the caller add"
            if wrong := wrong_filters(together):
                raise InvalidRequest(
                    [Violation(each.field, f"{each.description}, {added}") for each in wrong]
                )
        return together

    def not_found(self, index: str) -> NotFound:
        """Return the error for an index that the caller may not read, or that does not exist.

        It depends on the name and on the caller only, so that both cases are the same error.
        """
        known = ", ".join(sorted(set(self.filters) - {EVERY})) or "none"
        return NotFound(f"no index {index!r} (the caller may read: {known})", index=index)


EVERY_INDEX = IndexAccess({EVERY: ()})
"""Access to all passages of every index."""
NO_INDEX = IndexAccess({})
"""Access to no index."""


def both(filters: Sequence[Filter], others: Sequence[Filter]) -> tuple[Filter, ...]:
    """Return filters that match the passages that match all ``filters`` and all ``others``.

    ``filters`` come first, so that errors name their positions in the request. One of the
    ``others`` is left out if a filter implies it, because it allows fewer values of the field.
    """
    return (*filters, *(each for each in others if not any(_implies(one, each) for one in filters)))


def _implies(one: Filter, other: Filter) -> bool:
    return one.field == other.field and set(one.values) <= set(other.values)
