"""The chat template of a model, from the responses of its llama.cpp server."""

from collections.abc import Mapping

from scaar.generator.engines.chat_templates.files import ChatTemplate


def reported_template(properties: object, empty_text: object) -> ChatTemplate | None:
    """Return the template in the response of ``/props``; None if there is none.

    ``empty_text`` is the response of ``/tokenize`` for an empty text with special tokens: it has a
    token if the server adds one at the beginning of every text.
    """
    if not isinstance(properties, Mapping):
        return None
    text = properties.get("chat_template")
    if not isinstance(text, str) or not text:
        return None
    named = {name: properties.get(name) for name in ("bos_token", "eos_token")}
    tokens = {name: token for name, token in named.items() if isinstance(token, str) and token}
    added = isinstance(empty_text, Mapping) and bool(empty_text.get("tokens"))
    return ChatTemplate(text, tokens, frozenset(tokens.values()), adds_bos=added)
