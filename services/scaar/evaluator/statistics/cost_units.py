"""The units of usage that the time of an answer follows from."""

from collections.abc import Mapping

SEARCHES, SCORED_SENTENCES = "searches", "scored_sentences"
"""The columns of the searches, and of the drafts whose contributions were scored."""
PARTS: Mapping[str, tuple[str, ...]] = {
    "generation_ms": ("llm_calls", "prompt_tokens", "generated_tokens"),
    "retrieval_ms": (SEARCHES,),
    "scoring_ms": (SCORED_SENTENCES,),
}
"""The columns of times, and those of the usage that they follow from."""
UNITS: Mapping[str, str] = {
    "llm_calls": "model call",
    "prompt_tokens": "token read",
    "generated_tokens": "token written",
    SEARCHES: "search",
    SCORED_SENTENCES: "scored sentence",
}
"""The units of usage by their columns."""
