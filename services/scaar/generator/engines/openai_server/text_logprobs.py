"""Log-probabilities of a given text, from a completion that echoes its prompt."""

from openai.types import Completion

from scaar.core.types import TextLogprobs, Token
from scaar.generator.engines.openai_server.chunks import read_chunk
from scaar.generator.engines.openai_server.text import TokenAligner


def text_logprobs(
    completion: Completion, text: str, *, start: int, top_tokens: int
) -> TextLogprobs:
    """Return the tokens that end after the first ``start`` characters of the text.

    A token over the start counts as one of the text.

    Raises:
        ValueError: the completion has not the tokens of the text.
    """
    read = read_chunk(completion, top_tokens=top_tokens)
    echoed = read.tokens[: read.prompt_tokens]
    if not echoed or not read.text.startswith(text):
        raise ValueError("a completion that does not echo its prompt")
    aligner = TokenAligner()
    aligned = [*aligner.feed(echoed, text), *aligner.flush(ended=False)]
    tokens, begin, before = list[Token](), 0, 0
    for token in aligned:
        end = begin + len(token.text)
        if end <= start:
            before += 1
        else:
            first = max(begin, start)
            tokens.append(
                Token(
                    token.id,
                    text[first:end],
                    first - start,
                    end - start,
                    token.logprob,
                    top=token.top,
                )
            )
        begin = end
    return TextLogprobs(tuple(tokens), before)
