"""Defaults: an index that scaar builds by itself, here of two passages about films."""

from collections.abc import Iterator

from scaar.extensions import DefaultIndex, DefaultsProvider, Passage


def _passages() -> Iterator[Passage]:
    yield Passage("statue", "The Velvet Statue", "The Velvet Statue was released in 1974.")
    yield Passage("fountain", "The Haunted Fountain", "Borric Torford directed the film.")


EXAMPLE = DefaultsProvider("example", index=DefaultIndex("example", _passages))
