"""The factorial of sentence forms: length, facts, rate of free words, and their place."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

LENGTHS = (7, 12, 18, 25)
"""Words of a sentence. Drafts of real models have about 5 to 18; 25 is an extrapolation."""
FACTS = (1, 2, 3)
RATES = (0.0, 0.25, 0.5, 1.0)
"""Shares of the words without facts that vary freely; the others are always the same."""
FEWEST_WORDS = {1: 7, 2: 10, 3: 12}
"""Words that the facts of a sentence need at most, with the subject, by the number of facts."""
_PADDED = "padded"


@dataclass(frozen=True, slots=True)
class SentenceForm:
    """The form of a sentence.

    ``free`` is the rate of free words among those that state no fact. If ``padded``, all of these
    follow the last fact; otherwise they are spread over the sentence.

    Raises:
        ValueError: a value is not one of the factorial, or the facts do not fit the length.
    """

    words: int
    facts: int
    free: float
    padded: bool = False

    def __post_init__(self) -> None:
        for name, value, known in (
            ("words", self.words, LENGTHS),
            ("facts", self.facts, FACTS),
            ("free", self.free, RATES),
        ):
            if value not in known:
                listed = ", ".join(f"{each:g}" for each in known)
                raise ValueError(f"{name} must be one of {listed}, not {value:g}")
        if (fewest := FEWEST_WORDS[self.facts]) > self.words:
            text = f"{self.facts} facts need at least {fewest} words, not {self.words}"
            raise ValueError(text)

    @property
    def name(self) -> str:
        """The form as :func:`parse_form` reads it, such as ``12/2/0.5`` or ``18/1/1/padded``."""
        parts = (f"{self.words}", f"{self.facts}", f"{self.free:g}", *[_PADDED] * self.padded)
        return "/".join(parts)


def parse_form(text: str) -> SentenceForm:
    """Parse ``WORDS/FACTS/RATE``, with ``/padded`` for free words after the facts.

    Raises:
        ValueError: the text is not a form of the factorial.
    """
    parts = text.split("/")
    padded = len(parts) == 4 and parts[3] == _PADDED
    try:
        words, facts, free = int(parts[0]), int(parts[1]), float(parts[2])
        if len(parts) != 3 + padded:
            raise IndexError
    except (ValueError, IndexError):
        raise ValueError(
            f"a form is WORDS/FACTS/RATE or WORDS/FACTS/RATE/{_PADDED}, not {text!r}"
        ) from None
    return SentenceForm(words, facts, free, padded)


def _forms() -> Iterator[SentenceForm]:
    for words, facts in itertools.product(LENGTHS, FACTS):
        spare = words - FEWEST_WORDS[facts]
        if spare >= 0:
            # Without room for free words, the rates are the same form.
            yield from (
                SentenceForm(words, facts, rate) for rate in (RATES if spare else RATES[:1])
            )
    for words, rate in itertools.product(LENGTHS[1:], RATES):
        yield SentenceForm(words, 1, rate, padded=True)


FORMS = tuple(_forms())
"""Every form: facts spread over the sentence, and one fact with all other words after it."""
