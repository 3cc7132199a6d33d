"""Words that state no fact, and the distributions of those that vary freely.

There are four lists of adverbs. The words without facts of a sentence come from the lists in turn,
so that the last word shows the place of the next. A fixed word is the same in every sentence. A
free word is drawn from its list by a Zipf-like distribution: the word of rank n has a weight of
1 / n^s. The previous free word determines the ranks, and the noun of the film's title the exponent
s, so that some films have nearly fixed words and others nearly equally likely ones.
"""

from collections.abc import Mapping
from functools import cache
from itertools import cycle, islice
from random import Random

LISTS = tuple(
    tuple(words.split())
    for words in (
        "apparently evidently allegedly supposedly presumably seemingly undoubtedly certainly "
        "clearly surely obviously notably famously admittedly arguably honestly frankly truthfully "
        "definitely doubtless manifestly ostensibly purportedly inevitably",
        "recently formerly previously originally initially eventually finally lately presently "
        "currently already always often usually frequently rarely seldom sometimes occasionally "
        "once twice again thereafter nowadays",
        "quietly slowly quickly carefully boldly gently warmly proudly patiently eagerly calmly "
        "bravely cleverly kindly neatly smoothly softly swiftly firmly gladly keenly loudly "
        "politely wisely",
        "quite rather fairly very mostly largely chiefly mainly partly almost nearly entirely "
        "wholly fully completely totally utterly barely hardly scarcely simply merely purely truly",
    )
)
FIXED = ("also", "then", "there", "still")
"""The fixed word of each list."""
FREE_LISTS = {0.0: (), 0.25: (2,), 0.5: (0, 2), 1.0: (0, 1, 2, 3)}
"""The lists whose words vary freely, by the rate of free words."""
EXPONENTS = (0.2, 0.5, 1.0, 1.6, 2.4)
OTHER_WORDS = frozenset(word for words in (*LISTS, FIXED) for word in words)
"""Every word that states no fact, fixed or free."""


@cache
def distribution(number: int, noun: str, previous: str) -> Mapping[str, float]:
    """Return the probability of every word of list ``number``.

    ``previous`` is the free word before it in the sentence, or the noun if there is none.
    """
    ranked = list(LISTS[number])
    Random(f"ranks {number} {previous}").shuffle(ranked)
    exponent = Random(f"exponent {number} {noun}").choice(EXPONENTS)
    weights = [rank**-exponent for rank in range(1, len(ranked) + 1)]
    return {word: weight / sum(weights) for word, weight in zip(ranked, weights, strict=True)}


def draw_others(
    count: int, *, rate: float, noun: str, random: Random
) -> list[tuple[str, float | None]]:
    """Draw the words without facts of a sentence, each with its probability.

    A fixed word has None in the place of the probability.
    """
    drawn: list[tuple[str, float | None]] = []
    previous = noun
    for number in islice(cycle(range(len(LISTS))), count):
        if number not in FREE_LISTS[rate]:
            drawn.append((FIXED[number], None))
            continue
        likely = distribution(number, noun, previous)
        previous = random.choices(list(likely), list(likely.values()))[0]
        drawn.append((previous, likely[previous]))
    return drawn
