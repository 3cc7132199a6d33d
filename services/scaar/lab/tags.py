"""The tags that the lab's tagged models write and read, each one token of theirs."""

RETRIEVAL, NO_RETRIEVAL = "[Retrieval]", "[No Retrieval]"
CONTINUE_EVIDENCE = "[Continue to Use Evidence]"
RELEVANT, IRRELEVANT = "[Relevant]", "[Irrelevant]"
FULLY_SUPPORTED, PARTIALLY_SUPPORTED = "[Fully supported]", "[Partially supported]"
NO_SUPPORT = "[No support / Contradictory]"
UTILITIES = tuple(f"[Utility:{number}]" for number in range(1, 6))
PARAGRAPH, PARAGRAPH_END = "<paragraph>", "</paragraph>"

REFLECTION_TAGS = (
    *(RETRIEVAL, NO_RETRIEVAL, CONTINUE_EVIDENCE, RELEVANT, IRRELEVANT),
    *(FULLY_SUPPORTED, PARTIALLY_SUPPORTED, NO_SUPPORT),
    *UTILITIES,
    *(PARAGRAPH, PARAGRAPH_END),
)
"""The reflection tokens of Self-RAG (Asai et al., 2024), and the tags of a passage."""

SEARCH, SEARCH_END = "<search>", "</search>"
INFORMATION, INFORMATION_END = "<information>", "</information>"
THINK, THINK_END = "<think>", "</think>"
ANSWER, ANSWER_END = "<answer>", "</answer>"

SEARCH_TAGS = (
    *(SEARCH, SEARCH_END, INFORMATION, INFORMATION_END),
    *(THINK, THINK_END, ANSWER, ANSWER_END),
)
"""The tags of Search-R1 (Jin et al., 2025)."""
