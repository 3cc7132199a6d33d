"""Sentences of a text, also of one that is still being written.

Own code, since libraries for it want the whole text and give it back cleaned, while the loop
needs each sentence as soon as its end is certain, with every character where it was.

White space before a sentence belongs to it, so that the sentences of a text, one after the other,
are the text. However a text is cut into pieces, its sentences are the same: an end is certain
only when what decides it was seen, and what is undecided when the text ends is no end.
"""

from scaar.core.sentence_ends import CANDIDATE, WINDOW, Verdict, judge_newline, judge_stop


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a whole text; one after the other they are the text."""
    splitter = SentenceSplitter()
    sentences = splitter.feed(text)
    rest = splitter.flush()
    return (*sentences, rest) if rest else sentences


class SentenceSplitter:
    """Splits a text that comes in pieces, in time linear in its length."""

    __slots__ = ("_held", "_scanned", "_tail")

    def __init__(self) -> None:
        self._held: list[str] = []
        """What the pending sentence begins with, too far back to matter for its end."""
        self._tail = ""
        """The rest of it."""
        self._scanned = 0
        """How far into the tail there is no undecided end."""

    @property
    def pending(self) -> str:
        """The text that is not yet known to be of a complete sentence."""
        return "".join((*self._held, self._tail))

    @property
    def certain(self) -> int:
        """How many characters of the pending text are of its sentence, however the text goes on.

        Those up to an undecided end, or to the white space that may lead to the next sentence.
        """
        held = sum(len(text) for text in self._held)
        return held + len(self._tail[: self._scanned + 1].rstrip())

    def feed(self, text: str) -> tuple[str, ...]:
        """The sentences now known to be complete, in order."""
        self._tail += text
        sentences = []
        start, scanned = 0, self._scanned
        while candidate := CANDIDATE.search(self._tail, scanned):
            if candidate[1] is None:
                verdict, end, after = judge_newline(
                    self._tail, start, candidate.start(), held=bool(self._held)
                )
            else:
                verdict = judge_stop(self._tail, start, candidate, held=bool(self._held))
                end = after = candidate.end()
            if verdict is Verdict.UNDECIDED:
                scanned = candidate.start()
                break
            if verdict is Verdict.END:
                sentences.append("".join((*self._held, self._tail[start:end])))
                self._held.clear()
                start = end
            scanned = after
        else:
            scanned = len(self._tail)
        self._let_go(start, scanned)
        return tuple(sentences)

    def flush(self) -> str:
        """What is left: the last sentence, or nothing. The splitter is as new then."""
        rest = self.pending
        self._held.clear()
        self._tail, self._scanned = "", 0
        return rest

    def _let_go(self, start: int, scanned: int) -> None:
        """Holds what can matter no more apart, so that no piece is looked at twice."""
        settled = len(self._tail[start:scanned].rstrip())
        cut = start + max(0, settled - 2 * WINDOW)
        if cut > start:
            self._held.append(self._tail[start:cut])
        self._tail = self._tail[cut:]
        self._scanned = scanned - cut
