"""The work of an evaluation cut into shards: runs of questions, each under every setting."""


def cut(questions: int, settings: int, *, predictions: int) -> tuple[tuple[int, int], ...]:
    """Positions [first, last) of about so many predictions each; together all questions."""
    size = max(1, predictions // max(1, settings))
    return tuple((first, min(first + size, questions)) for first in range(0, questions, size))
