"""Sentences of a text that may still be growing.

Own code, because libraries need the whole text and return it cleaned, while the loop needs each
sentence as soon as its end is certain, with every character in place.

White space before a sentence belongs to the sentence, so that the concatenated sentences are the
text. The sentences do not depend on how the text is cut into pieces: an end is certain only once
the deciding characters have been read, and an undecided candidate at the end of the text is no end.

An item of a list, a row of a table, a line of code and a heading end with their line
(:mod:`scaar.core.text.line_kinds`). No sentence ends within a row or a line of code.
"""

from scaar.core.text.line_kinds import LineKind, first_line, last_line
from scaar.core.text.sentence_ends import CANDIDATE, WINDOW, Verdict, judge_newline, judge_stop


def split_sentences(text: str, before: str = "") -> tuple[str, ...]:
    """Return the sentences of a whole text after another; concatenated, they are the text."""
    splitter = SentenceSplitter(before)
    sentences = splitter.feed(text)
    rest = splitter.flush()
    return (*sentences, rest) if rest else sentences


class SentenceSplitter:
    """Splits a text that arrives in pieces, in time linear in its length.

    ``before`` is the text before it, which tells whether the text begins in a list or in code.
    """

    __slots__ = ("_begun", "_held", "_line", "_scanned", "_space", "_tail")

    def __init__(self, before: str = "") -> None:
        self._space = before[len(before.rstrip()) :]
        """White space between the text before and the first sentence."""
        self._line = last_line(before)
        """Kind of the line that is scanned; None at the beginning of a text."""
        self._begun = False
        """Whether the kind of the first line is known."""
        self._held: list[str] = []
        """Start of the pending sentence, too far back to affect its end."""
        self._tail = ""
        """Rest of the pending sentence."""
        self._scanned = 0
        """Length of the part of the tail without undecided ends."""

    @property
    def pending(self) -> str:
        """The text after the last complete sentence."""
        return "".join((*self._held, self._tail))

    @property
    def certain(self) -> int:
        """Number of characters of the pending text that belong to its sentence in any case.

        They end before an undecided end, or before white space that may belong to the next
        sentence.
        """
        held = sum(len(text) for text in self._held)
        return held + len(self._tail[: self._scanned + 1].rstrip())

    def feed(self, text: str) -> tuple[str, ...]:
        """Add text, and return the sentences that are now complete, in order."""
        self._tail += text
        line = self._line if self._begun else self._begin()
        if line is None:
            return ()
        sentences = []
        start, scanned = 0, self._scanned
        while candidate := CANDIDATE.search(self._tail, scanned):
            if candidate[1] is None:
                found = judge_newline(
                    self._tail, start, candidate.start(), line, held=bool(self._held)
                )
                verdict, end, after, line = found
            elif line.is_whole:
                verdict, end, after = Verdict.NO_END, 0, candidate.end()
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
        self._line = line
        self._let_go(start, scanned)
        return tuple(sentences)

    def flush(self) -> str:
        """Return the rest, which is the last sentence or empty, and reset the splitter."""
        rest = self.pending
        self._space, self._line, self._begun = "", None, False
        self._held.clear()
        self._tail, self._scanned = "", 0
        return rest

    def _begin(self) -> LineKind | None:
        """Return the kind of the first line once it is known, and begin to scan there."""
        line = first_line(f"{self._space}{self._tail}", self._line)
        if line is not None:
            self._line, self._begun = line, True
            self._scanned = len(self._tail) - len(self._tail.lstrip())
        return line

    def _let_go(self, start: int, scanned: int) -> None:
        """Set settled text aside, so that no piece is scanned twice."""
        settled = len(self._tail[start:scanned].rstrip())
        cut = start + max(0, settled - 2 * WINDOW)
        if cut > start:
            self._held.append(self._tail[start:cut])
        self._tail = self._tail[cut:]
        self._scanned = scanned - cut
