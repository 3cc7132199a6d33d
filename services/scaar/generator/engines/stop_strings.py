"""Stop strings, matched on text: what may be part of one is held back until it is known."""

from collections.abc import Sequence
from dataclasses import replace

from scaar.core.types import Token


class StopStrings:
    """Lets tokens through as soon as no stop string can begin in their text.

    At a stop string the text is cut where it begins. The token that it begins in passes with the
    text before it; it then says more than its text, so its id does not cover the text.
    """

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = tuple(stop)
        self._held: list[Token] = []
        self.met = False

    def feed(self, token: Token, *, complete: bool) -> list[Token]:
        """The tokens that are known to be text, in order; none after a stop string was met.

        A token whose character is not ``complete`` is held until a later one completes it.
        """
        self._held.append(token)
        if not complete:
            return []
        text = "".join(held.text for held in self._held)
        found = [at for at in map(text.find, self._stop) if at >= 0]
        start = self._held[0].start
        if found:
            self.met = True
            return self._cut(start + min(found))
        return self._release(start + len(text) - self._unsure(text))

    def flush(self, text: str) -> list[Token]:
        """The tokens held at the end of the generation; the last one gets the text left over."""
        if not self._held:
            return []
        last = self._held.pop()
        whole = replace(last, text=last.text + text, end=last.end + len(text))
        released = self.feed(whole, complete=True)
        return released if self.met else released + self._take(len(self._held))

    def _unsure(self, text: str) -> int:
        """How many of the last characters may be the beginning of a stop string."""
        return max(
            (
                length
                for stop in self._stop
                for length in range(1, min(len(stop), len(text) + 1))
                if text.endswith(stop[:length])
            ),
            default=0,
        )

    def _release(self, safe: int) -> list[Token]:
        count = next((i for i, held in enumerate(self._held) if held.end > safe), len(self._held))
        # A token of no width belongs to the one after it, and is held with it.
        while 0 < count < len(self._held) and not self._held[count - 1].text:
            count -= 1
        return self._take(count)

    def _cut(self, stop: int) -> list[Token]:
        before = [held for held in self._take(len(self._held)) if held.start < stop]
        return [
            replace(held, text=held.text[: stop - held.start], end=min(held.end, stop))
            for held in before
        ]

    def _take(self, count: int) -> list[Token]:
        taken, self._held = self._held[:count], self._held[count:]
        return taken
