"""Decimals of numbers in a message."""


def decimals_apart(one: float, other: float) -> tuple[str, str]:
    """Return two numbers with enough decimals to differ, from 2 to 6."""
    for decimals in (2, 4, 6):
        texts = f"{one:.{decimals}f}", f"{other:.{decimals}f}"
        if texts[0] != texts[1]:
            break
    return texts
