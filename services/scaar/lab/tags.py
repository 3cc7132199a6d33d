"""The tags that the lab's models write and read, each one token of them."""

SEARCH, SEARCH_END = "<search>", "</search>"
INFORMATION, INFORMATION_END = "<information>", "</information>"
THINK, THINK_END = "<think>", "</think>"
ANSWER, ANSWER_END = "<answer>", "</answer>"

SEARCH_TAGS = (
    *(SEARCH, SEARCH_END, INFORMATION, INFORMATION_END),
    *(THINK, THINK_END, ANSWER, ANSWER_END),
)
"""The tags of Search-R1 (Jin et al., 2025)."""

TURN_TAGS = ("User:", "Assistant:", "Standalone question:")
"""The headings of a conversation (:mod:`scaar.core.prompts.rewriting`), which are only read."""
