"""Log-probabilities of a given text, from the details of a TGI server's prompt."""

from collections.abc import Sequence
from itertools import pairwise

from scaar.core.errors import BackendUnavailable
from scaar.core.types import TextLogprobs, Token
from scaar.generator.engines.tgi_server.client import TgiInputToken, TgiSpan
from scaar.generator.engines.tgi_server.tokens import known_logprob


def text_logprobs(
    text: str,
    spans: Sequence[TgiSpan],
    prefill: Sequence[TgiInputToken],
    *,
    start: int,
    server: str,
) -> TextLogprobs:
    """Return the tokens that end after the first ``start`` characters of the text.

    A token over the start counts as one of the text. A token extends to the start of the next, so
    that the tokens cover the text.

    Raises:
        BackendUnavailable: the server returned other tokens for the prompt than for the text.
    """
    if [each.id for each in spans] != [each.id for each in prefill]:
        description = f"{server} returned other tokens of the prompt than those of its text"
        raise BackendUnavailable(description, server=server)
    first = next((at for at, each in enumerate(spans) if each.stop > start), len(spans))
    ends = [*(after.start for _, after in pairwise(spans[first:])), len(text)]
    tokens, begin = list[Token](), start
    for token, end in zip(prefill[first:], ends, strict=True):
        end = max(end, begin)
        logprob = known_logprob(token.logprob)
        tokens.append(Token(token.id, text[begin:end], begin - start, end - start, logprob))
        begin = end
    return TextLogprobs(tuple(tokens), first)
