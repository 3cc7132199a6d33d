"""Word frequencies: of English from wordfreq's list, or counted in passages."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version

from scaar.core.distributions import library_required
from scaar.core.errors import InvalidRequest
from scaar.core.gates.word_statistics import WordStatistics, words_counted
from scaar.core.types import Passage

ENGLISH = "english"
MIN_FREQUENCY = 1e-9
"""The frequency of English words that are not in the list."""


def english_frequencies() -> WordStatistics:
    """Return the frequencies of wordfreq's large list of English words.

    Raises:
        CapabilityMissing: wordfreq is not installed.
    """
    with library_required("the list of word frequencies", "idf"):
        from wordfreq import get_frequency_dict
    found = {
        word: max(MIN_FREQUENCY, frequency)
        for word, frequency in get_frequency_dict("en", wordlist="large").items()
    }
    return WordStatistics(f"wordfreq {version('wordfreq')}, English", found, MIN_FREQUENCY)


def corpus_frequencies(passages: Iterable[Passage], *, name: str) -> WordStatistics:
    """Return the frequencies of the words of passages, in titles and texts, with add-one smoothing.

    Smoothing gives unseen words a frequency too. The source has the name and a digest of the
    counts.

    Raises:
        InvalidRequest: the passages contain no word.
    """
    counts: Counter[str] = Counter()
    for passage in passages:
        counts.update(words_counted(f"{passage.title} {passage.text}"))
    if not counts:
        raise InvalidRequest.of("--frequencies", f"{name} contains no word")
    total = counts.total() + len(counts) + 1
    digest = hashlib.sha256()
    for word, count in sorted(counts.items()):
        digest.update(f"{word} {count}\n".encode())
    return WordStatistics(
        source=f"{name}, {counts.total()} words, {digest.hexdigest()[:12]}",
        frequencies={word: (count + 1) / total for word, count in counts.items()},
        unseen=1 / total,
    )
