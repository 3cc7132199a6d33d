"""Counts of the entities of a sentence in a corpus."""

from dataclasses import dataclass

from scaar.core.text.entities import Span, Statement


@dataclass(frozen=True, slots=True)
class SentenceCounts:
    """The counts of what a sentence states.

    ``counts`` has the number of occurrences of each entity, ``together`` for each tail how often it
    occurs together with the head, or with the one of the question's entities with which it does so
    most often.
    """

    statement: Statement
    counts: tuple[int, ...] = ()
    together: tuple[int, ...] = ()

    def rare(self, min_count: int) -> tuple[Span, ...]:
        """Return a head without tails that occurs less often than ``min_count``."""
        head = self.statement.head
        alone = head is not None and not self.statement.tails
        return (head,) if head is not None and alone and self.counts[0] < min_count else ()
