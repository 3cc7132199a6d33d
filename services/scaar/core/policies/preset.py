"""What a policy is: a pair of *when* to retrieve and *what* to ask, with the paper's values."""

from dataclasses import dataclass

from scaar.core.types import QuerySettings, Trigger, When

PAPER_TOP_K = 3


@dataclass(frozen=True, slots=True)
class Preset:
    """A named policy; ``adjustable`` are the overrides that mean something to it.

    ``trigger`` is what it judges drafts by, and brings its own threshold.
    """

    name: str
    when: When
    query: QuerySettings
    trigger: Trigger | None = None
    theta_cap: float = 1.0
    top_k: int = PAPER_TOP_K
    window_tokens: int = 0
    max_passages: int = 0
    adjustable: frozenset[str] = frozenset()


GATED = frozenset({"gate", "gate_threshold"})
"""What can be adjusted in any policy that retrieves."""

RETRIEVING = GATED | {"query", "include_question", "last_n_tokens", "top_k"}
"""What can be adjusted in a policy that always retrieves: any query that needs no draft."""

JUDGING = RETRIEVING | {
    "trigger",
    "theta",
    "theta_cap",
    "granularity",
    "spare_stop_words",
    "truncate",
    "alpha",
    "word_order",
    "top_words",
}
"""What can be adjusted in a policy that judges drafts: any trigger with any query."""
