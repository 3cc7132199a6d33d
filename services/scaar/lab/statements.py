"""Statements of facts: sentences whose words have roles.

Passages and answers state a fact in one of several ways, drawn at random, which differ in *words of
style* (film, movie or picture; was, was indeed or was reportedly; directed or made). Even a model
that knows the fact is uncertain of these words, and they do not matter. A plain statement has no
variants. A conclusion from two facts is a statement too.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from scaar.lab.world import Fact, Relation


class Role(enum.Enum):
    """Role of a word in a statement."""

    VALUE = "value"
    RELATION = "relation"
    TITLE = "title"
    NAME = "name"
    GRAMMAR = "grammar"


@dataclass(frozen=True, slots=True)
class RoleWord:
    """A word with attached punctuation, and its role."""

    text: str
    role: Role


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that states a fact, or a conclusion if ``fact`` is None."""

    fact: Fact | None
    words: tuple[RoleWord, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


_KINDS = (("film", 0.6), ("movie", 0.25), ("picture", 0.15))
_ADVERBS = (("", 0.55), ("indeed", 0.27), ("reportedly", 0.18))
_MADE = (("directed", 0.7), ("made", 0.3))

# {subject} and {value} are those of the fact; {film}, {was} and {directed} are words of style; a
# word in *asterisks* expresses the relation.
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
    "directed made released stars born died director father mother spouse earlier later yes "
    "no".split()
)
STYLE_WORDS = tuple("film movie picture indeed reportedly directed made".split())


def state(fact: Fact, style: Random | None) -> Statement:
    """State a fact with words of style drawn from ``style``, or plainly if it is None."""
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
    return _sentence(fact, words)


def patterns() -> dict[Relation, str]:
    """Return a regular expression of each relation's statements, without the final full stop.

    Its groups are ``subject`` and ``value``.
    """
    parts = {
        "{subject}": "(?P<subject>.+?)",
        "{value}.": "(?P<value>.+)",
        "{film}": _any_of(_KINDS),
        "{was}": f"was(?: {_any_of(_ADVERBS)})?",
        "{directed}": _any_of(_MADE),
    }
    return {
        relation: " ".join(parts.get(part, part.strip("*")) for part in pattern.split())
        for relation, pattern in _PATTERNS.items()
    }


def state_years(first: tuple[str, str], second: tuple[str, str]) -> Statement:
    """State two years, each with its film or person."""
    return _sentence(
        None, [*_grammar("The years are"), *_year(*first), *_grammar("and"), *_year(*second)]
    )


def state_order(order: str, year: str, whose: str) -> Statement:
    """State which of two years was ``earlier`` or ``later``, with its film or person."""
    words = [*_grammar("The"), RoleWord(order, Role.RELATION), *_grammar("is"), *_year(year, whose)]
    return _sentence(None, words)


def _year(year: str, whose: str) -> Iterator[RoleWord]:
    yield RoleWord(year, Role.VALUE)
    yield from _grammar("of")
    role = Role.TITLE if whose.startswith("The ") else Role.NAME
    yield from (RoleWord(word, role) for word in whose.split())


def state_sameness(first: str, second: str) -> Statement:
    """State whether two values are equal.

    The form suits a model that copies what followed an earlier occurrence of a word.
    """
    return _sentence(
        None,
        [
            *_grammar("For"),
            RoleWord(first, Role.VALUE),
            *_grammar("yes, for"),
            RoleWord(second, Role.VALUE),
            RoleWord("yes" if first == second else "no", Role.RELATION),
        ],
    )


def _grammar(words: str) -> Iterator[RoleWord]:
    return (RoleWord(word, Role.GRAMMAR) for word in words.split())


def _sentence(fact: Fact | None, words: list[RoleWord]) -> Statement:
    words[-1] = RoleWord(words[-1].text + ".", words[-1].role)
    return Statement(fact, tuple(words))


def _any_of(choices: tuple[tuple[str, float], ...]) -> str:
    return f"(?:{'|'.join(word for word, _ in choices if word)})"


def _draw(choices: tuple[tuple[str, float], ...], style: Random | None) -> str:
    words, weights = zip(*choices, strict=True)
    if style is None:
        return str(words[0])
    return str(style.choices(words, weights)[0])
