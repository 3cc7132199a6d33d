"""Statements followed by words without facts, some of which vary freely.

The default world's sentences have few words of style. Here every statement of a fact is plain, and
further words from the lists of :mod:`scaar.lab.sentences.free_words` follow it, so that answers
reason over several sentences, as in the default world, and are uncertain of words that do not
matter, as in sentence forms.
"""

from random import Random

from scaar.lab.sentences.free_words import OTHER_WORDS, draw_others
from scaar.lab.statements import Role, RoleWord, Statement, state
from scaar.lab.world import Fact

OTHERS = 6
"""Words without facts after each statement, which brings the longest ones to 17 words."""


def state_freely(fact: Fact, rate: float, random: Random) -> Statement:
    """State a fact plainly, followed by words without facts.

    ``rate`` is the share of these that vary freely: 0, 0.25, 0.5 or 1.
    """
    words = list(state(fact, None).words)
    words[-1] = RoleWord(words[-1].text.removesuffix("."), words[-1].role)
    noun = fact.subject.split()[-1]
    others = draw_others(OTHERS, rate=rate, noun=noun, random=random)
    words += (RoleWord(word, Role.GRAMMAR) for word, _ in others)
    words[-1] = RoleWord(f"{words[-1].text}.", words[-1].role)
    return Statement(fact, tuple(words))


def without_others(text: str) -> str:
    """Return the text without the words that state no fact."""
    return " ".join(word for word in text.split() if word.removesuffix(".") not in OTHER_WORDS)
