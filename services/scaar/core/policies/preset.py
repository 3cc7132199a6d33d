"""Presets: named pairs of a trigger and a query formulation, with their defaults."""

from dataclasses import dataclass

from scaar.core.types import ExcludeSeen, Fusion, Granularity, Moment, QuerySettings, SentenceFilter

PAPER_TOP_K = 3


@dataclass(frozen=True, slots=True)
class Preset:
    """A named policy, which retrieves at its ``moments``, and never without one.

    ``moments`` and ``max_passages`` decide which settings it accepts. The default of theta is that
    of ``trigger``, which judges the drafts, or the answer as a whole if the policy retrieves after
    the answer. ``rounds`` is for that moment. ``gate`` is the default gate. ``granularity`` and
    ``mask_below`` are for its own trigger. If a policy that judges or retrieves after the answer
    has ``max_passages``, passages stay in the prompt for the sentences or the answer after those
    that they were retrieved for.
    """

    name: str
    moments: tuple[Moment, ...]
    query: QuerySettings
    trigger: str | None = None
    theta_cap: float = 1.0
    granularity: Granularity = Granularity.WORD
    mask_below: float | None = None
    top_k: int = PAPER_TOP_K
    window_tokens: int = 0
    max_passages: int = 0
    rounds: int = 1
    sentence_filter: SentenceFilter = SentenceFilter.NONE
    gate: str | None = None
    fusion: Fusion = Fusion.RANK
    exclude_seen: ExcludeSeen = ExcludeSeen.NONE
