"""Last-layer attention of a text, as the port gives it."""

from scaar.core.types import AttendRequest, Attention, Token
from scaar.generator.engines.decoding.language_model import LanguageModel
from scaar.generator.engines.decoding.token_text import TokenText
from scaar.generator.validation import check_room, check_weights


def attend(model: LanguageModel, request: AttendRequest) -> Attention:
    """The attention that each token of the text pays to those up to it; blocks.

    The text's tokens are those given, else the text's by itself. Spans are in the text that the
    tokenizer decodes.

    Raises:
        InvalidRequest: prompt and text exceed the model's context, or their attention an answer.
    """
    prompt = model.encode(request.prompt)
    text = list(request.text_token_ids) or model.encode_more(request.text)
    ids = [*prompt, *text]
    check_room("prompt", len(ids), model.max_total_tokens)
    check_weights(len(prompt), len(ids))
    weights = model.decoder.attention(ids)
    return Attention(
        tokens=_tokens(model, ids),
        prompt_tokens=len(prompt),
        weights=tuple(
            tuple(weights[row, : row + 1].tolist()) for row in range(len(prompt), len(ids))
        ),
    )


def _tokens(model: LanguageModel, ids: list[int]) -> tuple[Token, ...]:
    decoder, tokens, end = TokenText(model.tokenizer), list[Token](), 0
    for position, token in enumerate(ids, 1):
        text = decoder.feed(token)
        if position == len(ids):
            text += decoder.flush()
        start, end = end, end + len(text)
        tokens.append(Token(token, text, start, end))
    return tuple(tokens)
