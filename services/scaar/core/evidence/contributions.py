"""The contribution of every unit of a draft; a token has that of its word (SCAAR Eq. 1).

A draft longer than a call of the scorer allows is scored in windows of whole words
(:mod:`scaar.core.text.windows`). A draft that no call can score, or that the scorer rejects, has no
contributions: the model may write what it likes, so that is no failure of the answer.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.text.windows import Window, windows_of
from scaar.core.types import ScoreRequest
from scaar.core.types.scoring import (
    MAX_CHARACTERS_OF_SCORING,
    MAX_SCORED_CHARACTERS,
    MAX_SCORED_WORDS,
    MAX_WORDS_OF_SCORING,
)


async def _gather(draft: Draft, sources: Sources) -> tuple[float, ...]:
    """Return the contributions; none for a draft that the scorer cannot read."""
    words = tuple(word.text for word in draft.words)
    windows = _windows(words)
    if windows is None:
        return ()
    contributions = list[float]()
    try:
        for batch in _batches(draft.question, words, windows):
            requests = [ScoreRequest(draft.question, words[at.start : at.stop]) for at in batch]
            for at, scored in zip(batch, await sources.score(requests), strict=True):
                _check_number(scored, at.stop - at.start)
                contributions += scored[at.first - at.start : at.last - at.start]
    except InvalidRequest:
        return ()
    return tuple(contributions[at] for at in draft.words_of_units)


def _windows(words: Sequence[str]) -> tuple[Window, ...] | None:
    # Of the words before each position, with a space after each.
    lengths = list(accumulate((len(word) + 1 for word in words), initial=0))

    def fits(start: int, stop: int) -> bool:
        characters = lengths[stop] - lengths[start] - 1
        return stop - start <= MAX_SCORED_WORDS and characters <= MAX_SCORED_CHARACTERS

    return windows_of(len(words), fits)


def _batches(
    question: str, words: Sequence[str], windows: Sequence[Window]
) -> Iterator[list[Window]]:
    """Yield the windows in as few calls as the scorer allows."""
    batch, in_batch, characters = list[Window](), 0, 0
    for window in windows:
        count = window.stop - window.start
        length = len(question) + sum(map(len, words[window.start : window.stop]))
        in_batch, characters = in_batch + count, characters + length
        if in_batch > MAX_WORDS_OF_SCORING or characters > MAX_CHARACTERS_OF_SCORING:
            yield batch
            batch, in_batch, characters = [], count, length
        batch.append(window)
    yield batch


def _check_number(contributions: Sequence[float], words: int) -> None:
    if len(contributions) != words:
        raise ScaarError(f"{len(contributions)} contributions were scored for {words} words")


CONTRIBUTIONS = Provider(_gather)
