"""Capabilities of an OpenAI-compatible server, as a short generation shows them."""

from collections.abc import Mapping, Sequence

from scaar.core.types import ContinuationKind, LogprobKind
from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.openai_server.served_model import ServedModel


def capabilities_of(
    served: ServedModel,
    deltas: Sequence[Delta],
    *,
    logprob_kind: LogprobKind,
    continuation: ContinuationKind,
) -> Mapping[str, str]:
    """Return the capabilities of a server by name, from the deltas of an answer of its model."""
    tokens = [token for delta in deltas for token in delta.tokens]
    text = "".join(delta.text for delta in deltas).lstrip()
    # The last token may be the one that ends the sequence, which adds no text.
    exact = "".join(token.text for token in tokens).lstrip().startswith(text)
    given = any(token.logprob is not None for token in tokens)
    counted = any(delta.prompt_tokens for delta in deltas)
    off = "off by request" if served.thinking_off else "none seen"
    return {
        "kind of server": served.dialect.name,
        "log-probabilities": str(logprob_kind) if given else "none",
        "alignment": ("exact" if exact else "by the text") if tokens else "no tokens reported",
        "continuation": str(continuation),
        "thinking": "always, split off" if served.thinks else off,
        "prompt tokens": "reported" if counted else "unknown",
        "context": f"{served.max_total_tokens} tokens",
        "most likely tokens": f"at most {served.dialect.max_top_tokens}",
    }
