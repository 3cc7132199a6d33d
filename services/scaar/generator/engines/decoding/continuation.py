"""One generation, step by step."""

from typing import Any

from scaar.core.types import FinishReason, GenerateRequest, GenerationEnd, Token
from scaar.generator.engines.decoding.attention import tokens_of
from scaar.generator.engines.decoding.decoder import Array
from scaar.generator.engines.decoding.language_model import LanguageModel
from scaar.generator.engines.decoding.next_token import (
    NextToken,
    Sampler,
    choose,
    likeliest,
    named,
)
from scaar.generator.engines.decoding.prefill import Prefill
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.generator.engines.decoding.row_batch import Row, RowBatch
from scaar.generator.engines.decoding.token_text import TokenText
from scaar.generator.engines.stop_strings import StopStrings
from scaar.generator.validation import check_room


class Continuation:
    """A generation with its key-value cache: reads the prompt, then writes tokens.

    Every method blocks and runs the model at most once, twice for attention with hidden states.
    """

    def __init__(self, model: LanguageModel, request: GenerateRequest, store: PrefixStore) -> None:
        """Tokenize prompt and prefix and look them up in the cache.

        Raises:
            InvalidRequest: prompt and prefix leave no room in the model's context, or a named token
                is not one token.
        """
        self._model = model
        self._request = request
        self._named_ids = model.ids_of(request.named_tokens)
        sampler = Sampler(request.temperature, request.seed) if request.temperature else None
        self._pick = None if sampler is None else sampler.draw
        prompt, prefix, self._text = _read(model, request)
        ids = [*prompt, *prefix]
        check_room("prompt", len(ids), model.max_total_tokens - 1)
        self._stop = StopStrings(request.stop)
        self._end = 0
        self._prefill = Prefill(model.decoder, store, ids)
        self._paid: tuple[float, ...] = ()
        self._state: tuple[float, ...] = ()
        self.prompt_tokens = len(ids)
        self.evaluated_tokens = self._prefill.unread
        """How many of them are read, and were not found in the cache."""
        self.read_tokens = tokens_of(model, prompt, prefix) if request.attention else ()
        """Tokens of prompt and prefix, if attention was requested."""
        self.generated_tokens = 0
        self.finished: FinishReason | None = None

    def step(self) -> list[Token]:
        """Run the model once and return the tokens whose text is final.

        A long prompt takes several steps, with ``generated_tokens`` 0 until the last of them.
        ``finished`` is set with the last tokens. The end-of-sequence token is counted but not
        returned.
        """
        logits = self._prefill.run(
            attention=self._request.attention, hidden_layer=self._request.hidden_layer
        )
        return [] if self._prefill.unread else self._take(logits)

    @property
    def last_id(self) -> int:
        """The last token of the text."""
        return self._prefill.last_id

    @property
    def attends(self) -> bool:
        """Whether the attention of the tokens is requested."""
        return self._request.attention

    @property
    def batches(self) -> bool:
        """Whether a batch can compute the steps after the first token."""
        return self._request.hidden_layer is None

    def join(self, batch: RowBatch[Any]) -> Row[Any]:
        """Add the text to a batch, whose results :meth:`take` takes."""
        return self._prefill.join(batch)

    def take(self, logits: Array, paid: Array | None) -> list[Token]:
        """Return the tokens whose text is final after a step of a batch; see :meth:`step`."""
        self._prefill.paid = paid if self._request.attention else None
        return self._take(logits)

    def end(self) -> GenerationEnd:
        """Return the end of the generation, once ``finished``."""
        assert self.finished is not None
        ended = self.finished is FinishReason.END_OF_SEQUENCE
        return GenerationEnd(
            self.finished,
            self.prompt_tokens,
            self.generated_tokens,
            attention=self._paid if ended else (),
            hidden_state=self._state if ended else (),
            evaluated_tokens=self.evaluated_tokens,
        )

    def store(self) -> None:
        """Store the cache for texts with the same prefix. May be called during a step."""
        self._prefill.store()

    def _take(self, logits: Array) -> list[Token]:
        released = self._write(choose(logits, self._pick))
        if self.generated_tokens == 1 or self.finished is not None:
            self.store()
        return released

    def _write(self, chosen: NextToken) -> list[Token]:
        paid, state = self._prefill.paid, self._prefill.state
        self._paid = () if paid is None else tuple(paid.tolist())
        self._state = () if state is None else tuple(state.tolist())
        self._prefill.append(chosen.id)
        self.generated_tokens += 1
        if chosen.id in self._model.end_ids:
            self.finished = FinishReason.END_OF_SEQUENCE
            return self._flush()
        top = likeliest(chosen.logprobs, self._request.top_tokens, self._text.preview)
        text = self._text.feed(chosen.id)
        start, self._end = self._end, self._end + len(text)
        token = Token(
            chosen.id,
            text,
            start,
            self._end,
            chosen.logprob,
            chosen.entropy,
            top,
            self._paid,
            named(chosen.logprobs, self._named_ids, self._request.named_tokens),
            self._state,
        )
        released = self._stop.feed(token, complete=self._text.complete)
        if self._stop.met:
            self.finished = FinishReason.STOP
        elif self._is_full():
            self.finished = FinishReason.LENGTH
            released += self._flush()
        return released

    def _is_full(self) -> bool:
        total = self.prompt_tokens + self.generated_tokens
        return (
            self.generated_tokens >= self._request.max_tokens
            or total >= self._model.max_total_tokens
        )

    def _flush(self) -> list[Token]:
        """Return the tokens held back at the end of the text, which may contain a stop string."""
        released = self._stop.flush(self._text.flush())
        if self._stop.met:
            self.finished = FinishReason.STOP
        return released


def _read(model: LanguageModel, request: GenerateRequest) -> tuple[list[int], list[int], TokenText]:
    """Return the ids of the prompt and of the prefix, and the text decoder after them.

    The ids of the prefix are used only if they decode to exactly its text; otherwise prompt and
    prefix are tokenized together.
    """
    if request.prefix_token_ids:
        prompt = model.encode(request.prompt, system=request.system)
        text = TokenText(model.tokenizer, prompt)
        if text.gives(request.prefix, request.prefix_token_ids):
            return prompt, list(request.prefix_token_ids), text
    ids = model.encode(request.prompt, request.prefix, system=request.system)
    return ids, [], TokenText(model.tokenizer, ids)
