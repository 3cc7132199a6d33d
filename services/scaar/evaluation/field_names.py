"""Errors that name fields as their caller does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scaar.core.errors import InvalidRequest, Violation


@contextmanager
def named_by(name_of: Callable[[str], str]) -> Iterator[None]:
    """Name the fields of an invalid request by what the function returns for them."""
    try:
        yield
    except InvalidRequest as error:
        renamed = [Violation(name_of(each.field), each.description) for each in error.violations]
        if renamed == list(error.violations):
            raise
        raise InvalidRequest(renamed) from error
