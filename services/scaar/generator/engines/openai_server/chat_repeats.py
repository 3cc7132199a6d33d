"""What a model repeats of its own text before it goes on, cut from what it writes.

A chat model that is asked to go on may begin with the sentence that it was writing, or with all
that it wrote. Only the beginning of what it writes is looked at, so that nothing it says later is
ever taken for a repeat.
"""

from dataclasses import replace

from scaar.core.sentences import split_sentences
from scaar.generator.engines.served.text import ServedToken

_CLOSING = frozenset(".,;:!?)]}”’'\"%")


class RepeatCut:
    """Lets tokens through once it is certain whether they repeat the end of a text.

    A repeat is the text from the beginning of any of its sentences to its end, white space aside.
    What follows is parted from the text by a space where it has none of its own.
    """

    def __init__(self, text: str) -> None:
        sentences = split_sentences(text)
        # Every end of the text that begins with a sentence, the longest first, without its space.
        ends = ["".join(sentences[at:]) for at in range(len(sentences))]
        self._repeats = [end for end in ("".join(end.split()) for end in ends) if end]
        self._parted = not text or text[-1].isspace()
        self._held: list[ServedToken] = []
        self._bare = ""
        self._certain = not self._repeats

    def feed(self, token: ServedToken) -> list[ServedToken]:
        """The tokens that are known to go on from the text, in order."""
        self._held.append(token)
        if not self._certain:
            self._bare += "".join(token.text.split())
            if any(each != self._bare and each.startswith(self._bare) for each in self._repeats):
                return []
        return self.flush()

    def flush(self) -> list[ServedToken]:
        """What was held back, when the model has ended."""
        if not self._certain:
            self._certain = True
            repeated = [len(each) for each in self._repeats if self._bare.startswith(each)]
            self._drop(max(repeated, default=0))
        self._part()
        held, self._held = self._held, []
        return held

    def _drop(self, count: int) -> None:
        """Takes so many characters from the beginning, white space not counted."""
        kept = []
        for token in self._held:
            letters = [at for at, letter in enumerate(token.text) if not letter.isspace()]
            taken = min(count, len(letters))
            count -= taken
            if taken:
                token = replace(token, text=token.text[letters[taken - 1] + 1 :])
            if not count and (token.text or not taken):
                kept.append(token)
        self._held = kept

    def _part(self) -> None:
        at = next((at for at, token in enumerate(self._held) if token.text), None)
        if at is None or self._parted:
            return
        self._parted = True
        token = self._held[at]
        if not token.text[0].isspace() and token.text[0] not in _CLOSING:
            self._held[at] = replace(token, text=f" {token.text}")
