"""Escaping of turn markers in the texts of a chat.

A server reads a prompt as one text, in which ``<|im_end|>`` ends a turn wherever it occurs. So
every marker in the text of a turn is escaped with a space after its first character:

    <|im_end|>  </s>  [INST]   ->   < |im_end|>  < /s>  [ INST]
"""

import re
from collections.abc import Iterable, Mapping

from scaar.generator.engines.chat_templates.renderer import STAND_IN, Messages, rendered

_LOOKS_LIKE_ONE = re.compile(r"<[^<>\s'\"{}]{1,64}>|\[/?[A-Z][A-Z_]{1,62}\]")
_CHATS: tuple[Messages, ...] = tuple(
    [{"role": role, "content": STAND_IN} for role in roles]
    for roles in (("user",), ("user", "assistant", "user"), ("system", "user"))
)


class Markers:
    """The special tokens of a model, and similar texts in its chat template."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Single characters and white space are ordinary text."""
        whole = {stripped for text in texts if len(stripped := text.strip()) > 1}
        self.texts = frozenset(whole)
        # Longest first: one marker may be a prefix of another.
        found = "|".join(re.escape(each) for each in sorted(whole, key=len, reverse=True))
        self._pattern = re.compile(found or r"(?!)", re.IGNORECASE)

    def escape(self, text: str) -> str:
        """Return the text with every marker escaped."""
        while self._pattern.search(text):
            # Escaping may create another marker, but no marker starts with a space, so this ends.
            text = self._pattern.sub(lambda marker: f"{marker[0][0]} {marker[0][1:]}", text)
        return text


def markers_of(template: str, tokens: Mapping[str, object], special: Iterable[str]) -> Markers:
    """Return the markers of a template and its special tokens."""
    texts = [template]
    for chat in _CHATS:
        try:
            texts.append(rendered(template, chat, tokens))
        except ValueError:  # the template does not support this chat, such as a system turn
            continue
    return Markers([*special, *_LOOKS_LIKE_ONE.findall("\n".join(texts))])
