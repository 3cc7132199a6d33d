"""The layout of the lab: numbered passages, then the question (:mod:`scaar.lab.layout`)."""

from collections.abc import Sequence

from scaar.core.prompts.dialects import DIALECTS
from scaar.core.prompts.profile import PromptProfile
from scaar.core.prompts.rewriting import plain_rewriting
from scaar.core.types import SearchDialect


def numbered(passages: Sequence[str]) -> str:
    """Return the passages under a heading, one per line, numbered from 1; empty for none."""
    if not passages:
        return ""
    lines = "".join(f"[{number}] {text}\n" for number, text in enumerate(passages, 1))
    return f"Context:\n{lines}"


def _layout(question: str, passages: Sequence[str], examples: str) -> str:
    return f"{numbered(passages)}Question: {question}\nAnswer:"


LAB = PromptProfile("lab", 1, _layout, trained_to_conclude=True, rewriting=None, text_kind="lab")
LAB_CHAT = PromptProfile(
    "lab_chat", 1, _layout, trained_to_conclude=True, rewriting=plain_rewriting, text_kind="lab"
)
"""The same layout, for the lab's model that was trained to rewrite questions."""
_TAGS = DIALECTS[SearchDialect.SEARCH_R1]
LAB_SEARCH = PromptProfile(
    "lab_search",
    1,
    _layout,
    forcing_phrase=_TAGS.forcing,
    trained_to_conclude=True,
    stop=("\nQuestion:", _TAGS.query[0]),
    trained_dialect=SearchDialect.SEARCH_R1,
    answer_tags=_TAGS.answer,
    rewriting=None,
    text_kind="lab",
)
"""The same layout, for the lab's model that was trained to request searches.

Without a policy of requests, a request ends the text, and the answer is forced in its tags.
"""
