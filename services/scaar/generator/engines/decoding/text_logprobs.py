"""Log-probabilities of a given text, computed in chunks."""

from scaar.core.types import LogprobsRequest, TextLogprobs, Token
from scaar.generator.engines.decoding.attention import read_text, tokens_of, with_space
from scaar.generator.engines.decoding.decoder import Array
from scaar.generator.engines.decoding.language_model import LanguageModel
from scaar.generator.engines.decoding.next_token import choose, likeliest, named
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.generator.engines.decoding.token_text import TokenText
from scaar.generator.validation import check_logprob_count, check_room

_CHUNK_TOKENS = 64
"""Tokens of one run, since a run returns logits over the vocabulary for each of them."""


class LogprobsPass:
    """Computation of the log-probability of each token of a text.

    Token ids are used as for attention. Every method blocks, and a step runs the model once. No run
    reads a single token, as in :class:`~scaar.generator.engines.decoding.prefill.Prefill`, so that
    a text has the log-probabilities with which it was written.
    """

    def __init__(self, model: LanguageModel, request: LogprobsRequest, store: PrefixStore) -> None:
        """Tokenize the texts and look up the prompt in the cache.

        Raises:
            InvalidRequest: prompt and text exceed the model's context, there are too many
                log-probabilities for a message, or a named token is not one token.
        """
        self._model = model
        self._request = request
        self._named_ids = model.ids_of(request.named_tokens)
        self._prompt, text, space = read_text(
            model, request.prompt, request.text, request.text_token_ids, system=request.system
        )
        self._ids = [*self._prompt, *text]
        check_room("prompt", len(self._ids), model.max_total_tokens)
        check_logprob_count(request, len(text))
        self._texts = TokenText(model.tokenizer, self._prompt)
        # The last token of the prompt predicts the first one of the text.
        self._cache = store.find(self._prompt[:-2]) or model.decoder.begin()
        tokens = with_space(space, tokens_of(model, self._prompt, text))[len(self._prompt) :]
        start = tokens[0].start
        self._spans = [
            (each.id, each.text, each.start - start, each.end - start) for each in tokens
        ]
        self._tokens = list[Token]()
        if not self._prompt:
            self._append(None)

    @property
    def done(self) -> bool:
        """True once every token of the text has its log-probability."""
        return len(self._tokens) == len(self._spans)

    def step(self) -> None:
        """Read the next chunk of the prompt or the text."""
        past = self._cache.length
        left = len(self._ids) - 1 - past
        size = _CHUNK_TOKENS - 1 if left == _CHUNK_TOKENS + 1 else min(left, _CHUNK_TOKENS)
        chunk = self._ids[past : past + size]
        logits, self._cache = self._model.decoder.step_whole(chunk, self._cache)
        for at in range(max(0, len(self._prompt) - 1 - past), size):
            self._append(logits[at])

    def logprobs(self) -> TextLogprobs:
        """Return the log-probabilities, once ``done``."""
        return TextLogprobs(tuple(self._tokens), len(self._prompt))

    def _append(self, logits: Array | None) -> None:
        token, text, start, end = self._spans[len(self._tokens)]
        if logits is None:
            self._tokens.append(Token(token, text, start, end))
        else:
            given = choose(logits, lambda _: token)
            top = likeliest(given.logprobs, self._request.top_tokens, self._texts.preview)
            asked = named(given.logprobs, self._named_ids, self._request.named_tokens)
            self._tokens.append(
                Token(token, text, start, end, given.logprob, given.entropy, top, named=asked)
            )
        self._texts.feed(token)
