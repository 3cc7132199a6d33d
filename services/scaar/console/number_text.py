"""Numbers and times as a page writes them."""

from scaar.console.data_tables import NOTHING, Cell

_PREFIXES = (("G", 1e9), ("M", 1e6), ("k", 1e3))


def count(value: int) -> Cell:
    """Return a whole number with separators."""
    return Cell(f"{value:,}")


def decimal(value: float | None, decimals: int = 2, *, sign: str = "") -> Cell:
    """Return a number; a dash if there is none."""
    return NOTHING if value is None else Cell(decimal_text(value, decimals, sign=sign))


def decimal_text(value: float, decimals: int = 2, *, sign: str = "") -> str:
    """Return the text of a number. A number that rounds to 0 has no sign."""
    rounded = round(value, decimals) + 0.0
    return f"{rounded:{sign if rounded else ''},.{decimals}f}"


def percent(share: float | None) -> Cell:
    """Return a share of 1 in percent, with one decimal; a dash if there is none."""
    return NOTHING if share is None else Cell(f"{100 * share:.1f}")


def share_of(part: int, whole: int) -> float | None:
    """Return a part of a whole; None if the whole is empty."""
    return part / whole if whole else None


def ms_text(value: float) -> str:
    """Return a time in ms, or in s from 10 s on."""
    return f"{value / 1000:,.1f} s" if value >= 10_000 else f"{value:,.0f} ms"


def duration_text(seconds: float) -> str:
    """Return a time as seconds, minutes or hours and minutes."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def bytes_text(size: int) -> str:
    """Return a size in bytes, kB, MB or GB."""
    for prefix, factor in _PREFIXES:
        if size >= factor:
            return f"{size / factor:,.1f} {prefix}B"
    return f"{size} B"


def time(stamp: str) -> Cell:
    """Return a time of RFC 3339 to the second, in UTC; a dash if there is none."""
    return Cell(time_text(stamp), time=stamp) if stamp else NOTHING


def time_text(stamp: str) -> str:
    """Return ``2030-01-31 12:00:00`` of a time of RFC 3339 in UTC."""
    return stamp[:19].replace("T", " ")
