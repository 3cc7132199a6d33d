"""Training pairs of the lab's cross-encoder: a text, an altered text, and their similarity.

Each statement of the world has a logical form: subject, relation, value. The label is the overlap
of the two texts' logical forms: removing the value costs much, removing a word of the relation or
the subject less, and removing a word of style or grammar almost nothing.
"""

from dataclasses import dataclass
from functools import partial
from random import Random

from scaar.lab import names
from scaar.lab.questions import NewFilms, draw_question
from scaar.lab.statements import RELATION_WORDS, Role, RoleWord, Statement
from scaar.lab.training.exercises import PLAIN_ANSWERS
from scaar.lab.world import draw_film

GRAMMAR_COST = 0.02
VALUE_COST = 0.25
"""Minimum cost of the words that express the value or the relation."""

_ANOTHER_VALUE = 1.6
"""Cost of replacing a word with another of its kind, as a multiple of the cost of removing it."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, each with a question and a sentence, and their similarity in [0, 1]."""

    text: str
    altered: str
    similarity: float


def loss_of(word: RoleWord, statement: Statement) -> float:
    """Return the loss of similarity if this word of a statement is removed."""
    bare = _bare(word.text)
    match word.role:
        case Role.VALUE if statement.fact is None or " " not in statement.fact.value:
            return 0.4
        case Role.VALUE:
            return 0.25 if bare in names.MONTHS or bare in names.DAYS else 0.35
        case Role.RELATION:
            return 0.3
        case Role.NAME:
            return 0.25
        case Role.TITLE if bare not in ("The", "of"):
            return 0.15
        case _:
            return GRAMMAR_COST


def draw_pair(random: Random) -> Pair:
    """Draw a pair about a new film. Usually one word is deleted, as in semantic contributions."""
    drawn = draw_question(random, NewFilms(partial(draw_film, random)))
    if random.random() < PLAIN_ANSWERS:
        drawn = drawn.plainly()
    statement = random.choice(drawn.reasoning(random))
    words = [word.text for word in statement.words]
    costs = [loss_of(word, statement) for word in statement.words]
    way = random.random()
    if way < 0.7:
        kept, cost = _delete(words, costs, random.sample(range(len(words)), 1))
    elif way < 0.8:
        kept, cost = _delete(words, costs, random.sample(range(len(words)), random.randint(2, 4)))
    elif way < 0.92:
        kept, cost = _replace(words, costs, random)
    else:
        kept, cost = words, 0.0
    text = f"{drawn.question} {statement.text}"
    return Pair(text, f"{drawn.question} {' '.join(kept)}", max(0.02, 1 - cost))


def _delete(words: list[str], costs: list[float], at: list[int]) -> tuple[list[str], float]:
    kept = [word for index, word in enumerate(words) if index not in at]
    return kept, sum(costs[index] for index in at)


def _replace(words: list[str], costs: list[float], random: Random) -> tuple[list[str], float]:
    at = random.choice([index for index, cost in enumerate(costs) if cost > GRAMMAR_COST])
    bare = _bare(words[at])
    others = [word for word in _kind_of(bare) if word != bare]
    replaced = list(words)
    replaced[at] = random.choice(others) + words[at][len(bare) :]
    return replaced, _ANOTHER_VALUE * costs[at]


def _bare(word: str) -> str:
    return word.rstrip(".,")


def _kind_of(word: str) -> tuple[str, ...]:
    kinds = (
        names.FIRST_NAMES,
        names.LAST_NAMES,
        names.PLACES,
        names.COUNTRIES,
        names.YEARS,
        names.MONTHS,
        names.DAYS,
        names.TITLE_ADJECTIVES,
        names.TITLE_NOUNS,
        RELATION_WORDS,
    )
    return next(kind for kind in kinds if word in kind)
