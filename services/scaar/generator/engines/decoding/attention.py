"""Last-layer attention of a text, computed in chunks."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scaar.core.types import AttendRequest, Attention, AttentionKind, Token
from scaar.generator.engines.decoding import prefill
from scaar.generator.engines.decoding.decoder import Array
from scaar.generator.engines.decoding.language_model import LanguageModel
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.generator.engines.decoding.token_text import TokenText, texts_of
from scaar.generator.validation import check_room, check_weights


class AttentionPass:
    """Computation of the attention that each token of a text pays or receives.

    The given token ids are used if they decode to the text; otherwise the text is tokenized. Spans
    refer to the decoded text. Every method blocks. A step runs the model once, so that generations
    alternate with a long text, and memory does not grow with the square of its length.
    """

    def __init__(self, model: LanguageModel, request: AttendRequest, store: PrefixStore) -> None:
        """Tokenize the texts and look up the prompt in the cache.

        Raises:
            InvalidRequest: prompt and text exceed the model's context, or their rows of attention
                exceed the size of a message.
        """
        self._model = model
        self._prompt, self._text, self._space = read_text(
            model, request.prompt, request.text, request.text_token_ids, system=request.system
        )
        end = sorted(model.end_ids)[:1] if request.ended else []
        self._ids = [*self._prompt, *self._text, *end]
        check_room("prompt", len(self._ids), model.max_total_tokens)
        self._by_token = request.attention is AttentionKind.MEAN_HEADS
        if self._by_token:
            check_weights(len(self._prompt), len(self._ids))
        self._cache = store.find(self._prompt) or model.decoder.begin()
        self._weights = list[tuple[float, ...]]()
        self._most: Array | None = None

    @property
    def done(self) -> bool:
        """True once the whole text has been read."""
        return self._cache.length == len(self._ids)

    def step(self) -> None:
        """Read the next chunk of the prompt or the text."""
        decoder, past = self._model.decoder, self._cache.length
        if past < len(self._prompt):
            chunk = self._prompt[past:][: prefill.CHUNK_TOKENS]
            _, self._cache = decoder.step(chunk, self._cache)
            return
        chunk = self._ids[past:][: prefill.CHUNK_TOKENS]
        if not self._by_token:
            most, self._cache = decoder.step_attended(chunk, self._cache)
            if self._most is not None:
                most[:, :past] = np.maximum(most[:, :past], self._most)
            self._most = most
            return
        _, weights, self._cache = decoder.step_attending(chunk, self._cache)
        self._weights += [
            tuple(weights[row, : past + row + 1].tolist()) for row in range(len(chunk))
        ]

    def attention(self) -> Attention:
        """Return the attention, once ``done``."""
        first, last = len(self._prompt), len(self._prompt) + len(self._text)
        received = () if self._most is None else self._most.mean(axis=0, dtype=float)[first:last]
        return Attention(
            tokens=with_space(self._space, tokens_of(self._model, self._prompt, self._text)),
            prompt_tokens=first,
            weights=tuple(self._weights),
            received=tuple(map(float, received)),
        )


def tokens_of(
    model: LanguageModel, prompt: Sequence[int], text: Sequence[int]
) -> tuple[Token, ...]:
    """Return the tokens of a prompt and a text, with spans in the decoded text.

    A special token within the prompt, as in a chat template, decodes to nothing and gets its name
    as text: with an empty span it would count as part of the next word.
    """
    tokens, end, ids = list[Token](), 0, [*prompt, *text]
    for position, added in enumerate(texts_of(model.tokenizer, ids)):
        token = ids[position]
        if end and not added and position < len(prompt) and not model.tokenizer.decode([token]):
            added = model.tokenizer.id_to_token(token) or ""
        start, end = end, end + len(added)
        tokens.append(Token(token, added, start, end))
    return tuple(tokens)


def read_text(
    model: LanguageModel, before: str, text: str, given: Sequence[int], *, system: str = ""
) -> tuple[list[int], list[int], str]:
    """Return the token ids of the prompt ``before`` and of the text, and a space.

    It is the space that the text lost when it was decoded.

    Given ids are used only if they decode to exactly the text. Given ids without a prompt are read
    alone, even without a beginning-of-sequence token. Some tokenizers, such as Llama 2's, decode
    them without the space at the start.
    """
    prompt = model.encode(before, system=system) if before or system or not given else []
    if given and TokenText(model.tokenizer, prompt).gives(text, given):
        return prompt, list(given), ""
    alone = given and not prompt and text.startswith(" ")
    if alone and TokenText(model.tokenizer).gives(text[1:], given):
        return prompt, list(given), " "
    return prompt, model.encode_more(text), ""


def with_space(space: str, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens of a text that starts with the space, which the first one gets."""
    if not space:
        return tokens
    moved = [replace(each, start=each.start + 1, end=each.end + 1) for each in tokens]
    return (replace(moved[0], text=space + moved[0].text, start=0), *moved[1:])
