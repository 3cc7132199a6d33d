"""Reflection tokens: how a model trained for Self-RAG marks what it reads, writes and judges.

The tokens, and the place of a passage between them, are those of the authors' code
(AkariAsai/self-rag, retrieval_lm/utils.py and run_short_form.py):

    [Retrieval]<paragraph>title
    text</paragraph>[Relevant]A sentence.[Fully supported][No Retrieval]Another.[Utility:5]
"""

import re

from scaar.core.prompts.untrusted import one_line, safe_passage
from scaar.core.types import RetrievedPassage

RETRIEVAL = "[Retrieval]"
NO_RETRIEVAL = "[No Retrieval]"
CONTINUE_EVIDENCE = "[Continue to Use Evidence]"
DECISIONS = (RETRIEVAL, NO_RETRIEVAL, CONTINUE_EVIDENCE)
"""Tokens before a segment: whether it needs a passage."""

RELEVANT = "[Relevant]"
IRRELEVANT = "[Irrelevant]"
RELEVANCES = (RELEVANT, IRRELEVANT)
"""Tokens after a passage: whether it is relevant."""

FULLY_SUPPORTED = "[Fully supported]"
PARTIALLY_SUPPORTED = "[Partially supported]"
NO_SUPPORT = "[No support / Contradictory]"
SUPPORTS = (FULLY_SUPPORTED, PARTIALLY_SUPPORTED, NO_SUPPORT)
"""Tokens after a segment: whether its passage supports it."""

UTILITIES = tuple(f"[Utility:{number}]" for number in range(1, 6))
"""Tokens after an answer: how useful it is, the worst first."""

PARAGRAPH, PARAGRAPH_END = "<paragraph>", "</paragraph>"

JUDGEMENTS = (*DECISIONS, *RELEVANCES, *SUPPORTS, *UTILITIES)
"""The tokens by whose probabilities the model judges."""

REFLECTION_TOKENS = (*JUDGEMENTS, PARAGRAPH, PARAGRAPH_END)
"""All tokens; each must be a single token of the model."""

_ANY = re.compile("|".join(map(re.escape, REFLECTION_TOKENS)))
_ANY_CASE = re.compile(_ANY.pattern, re.IGNORECASE)


def paragraph(passage: RetrievedPassage) -> str:
    """Return a passage as the model reads it, with its title on a line of its own."""
    title = safe_passage(one_line(passage.title))
    text = safe_passage(passage.text)
    content = f"{title}\n{text}" if title else text
    return f"{PARAGRAPH}{with_tokens_apart(content)}{PARAGRAPH_END}"


def with_tokens_apart(text: str) -> str:
    """Return untrusted text in which nothing reads as a reflection token."""
    return _ANY_CASE.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)


def without_tokens(text: str) -> str:
    """Return text of the model without reflection tokens."""
    return _ANY.sub("", text)
