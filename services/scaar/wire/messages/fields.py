"""Single fields: what the contract can carry, and what is taken from it."""

import math

from scaar.core.errors import InvalidRequest

_INT32_MAX = 2**31 - 1


def carried_int(field: str, value: int) -> int:
    """The number, if it fits the contract's 32 bits."""
    if not -_INT32_MAX - 1 <= value <= _INT32_MAX:
        raise InvalidRequest.of(field, f"must fit in 32 bits, not {value:g}")
    return value


def carried_text(field: str, value: str) -> str:
    """The text, if it is Unicode without half pairs."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = f"U+{ord(value[error.start]):04X}"
        message = f"holds the control character {code} at {error.start}"
        raise InvalidRequest.of(field, message) from error
    return value


def finite(field: str, value: float) -> float:
    """The number, if it is one."""
    if not math.isfinite(value):
        raise InvalidRequest.of(field, f"must be a finite number, not {value:g}")
    return value


def finite_or_none(value: float) -> float | None:
    """The number, None where it is NaN or infinite."""
    return value if math.isfinite(value) else None


def required(field: str, present: bool) -> None:
    """Refuses a message that is not there."""
    if not present:
        raise InvalidRequest.of(field, "is required")
