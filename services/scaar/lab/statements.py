"""Facts in words: each statement is a sentence whose words know their role.

Passages and answers state a fact in one of several ways, drawn at random: the *words of style*
(film, movie or picture; was, was indeed or was reportedly; directed or made). A model that knows
the fact is still unsure of them, and they do not matter.
"""

import enum
from dataclasses import dataclass
from random import Random

from scaar.lab.world import Fact, Relation


class Role(enum.Enum):
    """What a word of a statement does."""

    VALUE = "value"
    RELATION = "relation"
    TITLE = "title"
    NAME = "name"
    GRAMMAR = "grammar"


@dataclass(frozen=True, slots=True)
class RoleWord:
    """A word (punctuation attached) and its role."""

    text: str
    role: Role


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence stating one fact."""

    fact: Fact
    words: tuple[RoleWord, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


_KINDS = (("film", 0.6), ("movie", 0.25), ("picture", 0.15))
_ADVERBS = (("", 0.55), ("indeed", 0.27), ("reportedly", 0.18))
_MADE = (("directed", 0.7), ("made", 0.3))

# {subject} and {value} stand for the fact's; {film}, {was} and {directed} for words of style;
# a word in *asterisks* carries the relation.
_PATTERNS = {
    Relation.DIRECTOR: "The {film} {subject} {was} {directed} by {value}.",
    Relation.RELEASED: "The {film} {subject} {was} *released* in {value}.",
    Relation.STAR: "The {film} {subject} *stars* {value}.",
    Relation.BORN: "{subject} {was} *born* on {value}.",
    Relation.BIRTHPLACE: "{subject} {was} *born* in {value}.",
    Relation.DIED: "{subject} *died* on {value}.",
    Relation.COUNTRY: "{subject} {was} a *director* from {value}.",
    Relation.FATHER: "The *father* of {subject} {was} {value}.",
    Relation.MOTHER: "The *mother* of {subject} {was} {value}.",
    Relation.SPOUSE: "The *spouse* of {subject} {was} {value}.",
}
_FILM_RELATIONS = frozenset({Relation.DIRECTOR, Relation.RELEASED, Relation.STAR})

RELATION_WORDS = tuple(
    "directed made released stars born died director father mother spouse".split()
)
STYLE_WORDS = tuple("film movie picture indeed reportedly directed made".split())


def state(fact: Fact, style: Random) -> Statement:
    """The fact as a sentence, its words of style drawn from ``style``."""
    subject = Role.TITLE if fact.relation in _FILM_RELATIONS else Role.NAME
    words: list[RoleWord] = []
    for part in _PATTERNS[fact.relation].split():
        match part:
            case "{subject}":
                words += (RoleWord(word, subject) for word in fact.subject.split())
            case "{value}" | "{value}.":
                words += (RoleWord(word, Role.VALUE) for word in fact.value.split())
            case "{film}":
                words.append(RoleWord(_draw(_KINDS, style), Role.GRAMMAR))
            case "{was}":
                was = f"was {_draw(_ADVERBS, style)}"
                words += (RoleWord(word, Role.GRAMMAR) for word in was.split())
            case "{directed}":
                words.append(RoleWord(_draw(_MADE, style), Role.RELATION))
            case _:
                role = Role.RELATION if part.startswith("*") else Role.GRAMMAR
                words.append(RoleWord(part.strip("*"), role))
    words[-1] = RoleWord(words[-1].text + ".", words[-1].role)
    return Statement(fact, tuple(words))


def _draw(choices: tuple[tuple[str, float], ...], style: Random) -> str:
    words, weights = zip(*choices, strict=True)
    return str(style.choices(words, weights)[0])
