"""The tokens of accepted text, with their log-probabilities."""

from collections.abc import Sequence

from scaar.core.errors import CapabilityMissing
from scaar.core.types import AcceptedToken, Capability, ModelDescription, Token


def require_logprobs(model: ModelDescription) -> None:
    """Pass a model whose tokens have log-probabilities.

    Raises:
        CapabilityMissing: naming the field of the request.
    """
    if (needed := Capability.LOGPROBS) not in model.capabilities:
        text = f"logprobs: model {model.model} on engine {model.engine} gives no log-probabilities"
        raise CapabilityMissing(text, field="logprobs", missing=needed)


def accepted_tokens(text: str, tokens: Sequence[Token]) -> tuple[AcceptedToken, ...]:
    """Return the tokens of a text; their texts concatenated are the text.

    Spans of the given tokens are offsets into the text. Text that no token covers, which the model
    did not write, has no log-probability. A token that reaches beyond the text is cut.
    """
    found, at = list[AcceptedToken](), 0
    for token in tokens:
        if token.start >= len(text):
            break
        if token.start > at:
            found.append(AcceptedToken(text[at : token.start]))
            at = token.start
        end = max(at, min(token.end, len(text)))
        found.append(AcceptedToken(text[at:end], token.logprob))
        at = end
    if at < len(text):
        found.append(AcceptedToken(text[at:]))
    return tuple(found)
