"""Chats for continuing a text, and removal of what a chat model repeats.

A chat model that is asked to continue may repeat the sentence that it was writing, or the whole
text. Only the start of its output is checked, so that nothing later is taken for a repeat.
"""

from dataclasses import replace

from openai.types.chat import ChatCompletionMessageParam

from scaar.core.text.sentences import split_sentences
from scaar.core.types import ContinuationKind, GenerateRequest
from scaar.generator.engines.served.text import ServedToken

_CLOSING = frozenset(".,;:!?)]}”’'\"%")
CONTINUE_INSTRUCTION = (
    "Your answer is not finished. Continue exactly where it stops, in the same form. Write only "
    "what follows, and repeat nothing of it."
)
"""Instruction for a model that cannot continue a turn of its own."""


def turns_of(
    request: GenerateRequest, continuation: ContinuationKind, *, system_turn: bool = True
) -> list[ChatCompletionMessageParam]:
    """Return the prompt as the user's turn and the prefix as the model's turn.

    Text of the system is the first turn, or without ``system_turn`` the start of the user's. If the
    server does not continue the model's turn (``RESTATED``), a last turn instructs the model to.
    """
    turns: list[ChatCompletionMessageParam] = []
    prompt = request.prompt
    if request.system and system_turn:
        turns.append({"role": "system", "content": request.system})
    elif request.system:
        prompt = f"{request.system}\n\n{prompt}"
    if prompt:
        turns.append({"role": "user", "content": prompt})
    if request.prefix:
        turns.append({"role": "assistant", "content": request.prefix})
        if continuation is ContinuationKind.RESTATED:
            turns.append({"role": "user", "content": CONTINUE_INSTRUCTION})
    return turns


class RepeatFilter:
    """Releases tokens once it is certain whether they repeat the end of a text.

    A repeat is the text from the start of any of its sentences to its end, ignoring white space.
    What follows is separated from the text by a space.
    """

    def __init__(self, text: str) -> None:
        sentences = split_sentences(text)
        # Every suffix of the text that starts with a sentence, longest first, without white space.
        ends = ["".join(sentences[at:]) for at in range(len(sentences))]
        self._repeats = [end for end in ("".join(end.split()) for end in ends) if end]
        self._separated = not text or text[-1].isspace()
        self._held: list[ServedToken] = []
        self._bare = ""
        self._certain = not self._repeats

    def feed(self, token: ServedToken) -> list[ServedToken]:
        """Return the tokens that are known to continue the text, in order."""
        self._held.append(token)
        if not self._certain:
            self._bare += "".join(token.text.split())
            if any(each != self._bare and each.startswith(self._bare) for each in self._repeats):
                return []
        return self.flush()

    def flush(self) -> list[ServedToken]:
        """Return the tokens held back at the end of the generation."""
        if not self._certain:
            self._certain = True
            repeated = [len(each) for each in self._repeats if self._bare.startswith(each)]
            self._drop(max(repeated, default=0))
        self._separate()
        held, self._held = self._held, []
        return held

    def _drop(self, count: int) -> None:
        """Remove ``count`` characters from the start, not counting white space."""
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

    def _separate(self) -> None:
        at = next((at for at, token in enumerate(self._held) if token.text), None)
        if at is None or self._separated:
            return
        self._separated = True
        token = self._held[at]
        if not token.text[0].isspace() and token.text[0] not in _CLOSING:
            self._held[at] = replace(token, text=f" {token.text}")
