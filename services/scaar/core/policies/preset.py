"""What a policy is: a pair of *when* to retrieve and *what* to ask, with the paper's values."""

from dataclasses import dataclass

from scaar.core.types import Capability, QuerySettings, Weighting, When

PAPER_TOP_K = 3


@dataclass(frozen=True, slots=True)
class Preset:
    """A named policy.

    ``needs`` are the capabilities without which a generator cannot serve it; ``adjustable`` the
    overrides that mean something to it.
    """

    name: str
    when: When
    query: QuerySettings
    weighting: Weighting = Weighting.NONE
    theta: float = 0.0
    theta_cap: float = 1.0
    top_k: int = PAPER_TOP_K
    window_tokens: int = 0
    max_passages: int = 0
    needs: frozenset[Capability] = frozenset()
    adjustable: frozenset[str] = frozenset()


JUDGING = frozenset(
    {
        "theta",
        "theta_cap",
        "weighting",
        "query",
        "alpha",
        "include_question",
        "word_order",
        "last_n_tokens",
        "top_k",
    }
)
"""What can be adjusted in a policy that judges drafts: any trigger with any query."""

RETRIEVING = frozenset({"query", "include_question", "last_n_tokens", "top_k"})
"""What can be adjusted in a policy that always retrieves: any query that needs no draft."""
