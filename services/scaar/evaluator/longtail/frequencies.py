"""How often words are met, counted: in English by wordfreq's list, or in passages."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.gates.word_statistics import WordStatistics, words_counted
from scaar.core.types import Passage

ENGLISH = "english"
LEAST_FREQUENCY = 1e-9
"""One word in so many: English words that nobody counted are as rare as that."""


def english_frequencies() -> WordStatistics:
    """The large list of English words that comes with wordfreq.

    Raises:
        CapabilityMissing: wordfreq is not installed.
    """
    try:
        from wordfreq import get_frequency_dict
    except ModuleNotFoundError as error:
        text = f"the frequencies of English words need {error.name}: install scaar[idf]"
        raise CapabilityMissing(text) from error
    found = {
        word: max(LEAST_FREQUENCY, frequency)
        for word, frequency in get_frequency_dict("en", wordlist="large").items()
    }
    return WordStatistics(f"wordfreq {version('wordfreq')}, English", found, LEAST_FREQUENCY)


def corpus_frequencies(passages: Iterable[Passage], *, name: str) -> WordStatistics:
    """The words of the passages, titles and texts, each counted once more than it is met.

    So a word that is in none of them has a frequency too. What was counted is told by the name and
    a digest of the counts.

    Raises:
        InvalidRequest: there is no word in them.
    """
    counts: Counter[str] = Counter()
    for passage in passages:
        counts.update(words_counted(f"{passage.title} {passage.text}"))
    if not counts:
        raise InvalidRequest.of("--frequencies", f"{name} holds no word to count")
    total = counts.total() + len(counts) + 1
    digest = hashlib.sha256()
    for word, count in sorted(counts.items()):
        digest.update(f"{word} {count}\n".encode())
    return WordStatistics(
        source=f"{name}, {counts.total()} words, {digest.hexdigest()[:12]}",
        frequencies={word: (count + 1) / total for word, count in counts.items()},
        unseen=1 / total,
    )
