"""Counts in messages."""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1."""
    return f"{count:,} {plural(count, noun)}"


def plural(count: float, noun: str) -> str:
    """Return a noun in the plural, unless the count is 1."""
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def are(count: int) -> str:
    """Return the verb of a count: ``is`` for 1, else ``are``."""
    return "is" if count == 1 else "are"
