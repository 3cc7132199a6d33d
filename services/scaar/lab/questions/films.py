"""Sources of the films of questions."""

import dataclasses
from collections.abc import Callable, Sequence
from itertools import accumulate, compress
from random import Random
from typing import Protocol

from scaar.lab.world import FILM_RELATIONS, Film, Relation


class Films(Protocol):
    """Films for questions. Draws are independent."""

    def draw(self, random: Random) -> Film:
        """Draw a film."""
        ...

    def draw_with(self, random: Random, relation: Relation, value: str) -> Film:
        """Draw a film that has this fact, itself or its director; any film if none has it."""
        ...


class ListedFilms:
    """Films of a world, drawn by weight."""

    def __init__(self, films: Sequence[Film], weights: Sequence[float] | None = None) -> None:
        self._films = _Weighted(films, weights or [1.0] * len(films))
        self._found: dict[tuple[Relation, str], _Weighted] = {}

    def draw(self, random: Random) -> Film:
        return self._films.draw(random)

    def draw_with(self, random: Random, relation: Relation, value: str) -> Film:
        key = (relation, value)
        if key not in self._found:
            chosen = [value_of(film, relation) == value for film in self._films.films]
            self._found[key] = self._films.only(chosen) if any(chosen) else self._films
        return self._found[key].draw(random)


class _Weighted:
    def __init__(self, films: Sequence[Film], weights: Sequence[float]) -> None:
        self.films = films
        self._weights = weights
        self._summed = list(accumulate(weights))

    def draw(self, random: Random) -> Film:
        return random.choices(self.films, cum_weights=self._summed)[0]

    def only(self, chosen: Sequence[bool]) -> "_Weighted":
        return _Weighted(list(compress(self.films, chosen)), list(compress(self._weights, chosen)))


class NewFilms:
    """Films that are generated on each draw."""

    def __init__(self, make: Callable[[], Film]) -> None:
        self._make = make

    def draw(self, random: Random) -> Film:
        return self._make()

    def draw_with(self, random: Random, relation: Relation, value: str) -> Film:
        film, changed = self._make(), {relation.value: value}
        if relation in FILM_RELATIONS:
            return dataclasses.replace(film, **changed)  # type: ignore[arg-type]
        director = dataclasses.replace(film.director, **changed)  # type: ignore[arg-type]
        return dataclasses.replace(film, director=director)


def value_of(film: Film, relation: Relation) -> str:
    """Return the value of a relation of a film, or of its director."""
    of = film if relation in FILM_RELATIONS else film.director
    return str(getattr(of, relation.value))
