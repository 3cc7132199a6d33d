"""Capabilities of an OpenAI-compatible server, as the chunks of a short generation show them."""

from collections.abc import Mapping, Sequence

from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.openai_server.served_model import ServedModel


def capabilities_of(served: ServedModel, deltas: Sequence[Delta]) -> Mapping[str, str]:
    """Return the capabilities of a server by name, from the deltas of an answer of its model."""
    tokens = [token for delta in deltas for token in delta.tokens]
    text = "".join(delta.text for delta in deltas).lstrip()
    # The last token may be the one that ends the sequence, which adds no text.
    exact = "".join(token.text for token in tokens).lstrip().startswith(text)
    counted = any(delta.prompt_tokens for delta in deltas)
    off = "off by request" if served.thinking_off else "none seen"
    assumed = "" if served.context_known else ", assumed: set SCAAR_GENERATOR_MAX_TOTAL_TOKENS"
    return {
        "kind of server": served.dialect.name,
        "alignment": ("exact" if exact else "by the text") if tokens else "no tokens reported",
        "thinking": "always, split off" if served.thinks else off,
        "prompt tokens": "reported" if counted else "unknown",
        "context": f"{served.max_total_tokens} tokens{assumed}",
    }
