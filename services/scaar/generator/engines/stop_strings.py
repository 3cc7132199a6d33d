"""Stop strings, matched on text across tokens."""

from collections.abc import Sequence
from dataclasses import replace

from scaar.core.types import Token


class StopStrings:
    """Releases tokens as soon as no stop string can start in their text.

    The text is cut where a stop string starts. The token in which it starts keeps the text before
    it, so the id of that token covers more than its text.
    """

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = tuple(stop)
        self._held: list[Token] = []
        self.met = False

    def feed(self, token: Token, *, complete: bool) -> list[Token]:
        """Return the tokens whose text is final, in order; none after a stop string.

        A token whose character is not ``complete`` is held until a later token completes it.
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
        """Return the tokens held at the end of the generation; the last one gets ``text``."""
        if not self._held:
            return []
        last = self._held.pop()
        whole = replace(last, text=last.text + text, end=last.end + len(text))
        released = self.feed(whole, complete=True)
        return released if self.met else released + self._take(len(self._held))

    def _unsure(self, text: str) -> int:
        """Return how many of the last characters may be the start of a stop string."""
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
        # A token without text belongs to the next one and is held with it.
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
