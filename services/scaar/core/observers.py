"""What a part tells of its work to whoever watches it; here nobody does."""


class ScorerObserver:
    """Told of a scorer's batches and of its memory; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def batch_begun(self, pairs: int) -> None:
        """So many different pairs were handed to the model together."""

    def pairs_waited(self, seconds: float) -> None:
        """A call's pairs, or those of one of its requests to a server, were begun after so long."""

    def sentences_looked_up(self, *, hits: int, joined: int, misses: int) -> None:
        """Of the sentences asked for, how many were in memory, under way, and begun."""


UNOBSERVED = ScorerObserver()
"""Nobody watches."""
