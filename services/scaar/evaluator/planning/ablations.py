"""Ablations by name: the policies and values that show what a part contributes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.types import Granularity
from scaar.evaluator.planning.axes import with_indexes, with_scorers
from scaar.evaluator.planning.settings import Values, plan_settings, requests_of, setting_of
from scaar.evaluator.records import Setting


@dataclass(frozen=True, slots=True)
class Ablation:
    """Policies and the values that vary; all other settings keep their defaults.

    Policies that use the scorer run with each of the ``scorers``; None is the scorer itself.
    ``baselines`` are policies for comparison, each with its own values. An ablation ``by_index``
    runs with each of the indexes that the user names.
    """

    policies: tuple[str, ...]
    values: Values
    scorers: tuple[Control | None, ...] = (None,)
    baselines: tuple[tuple[str, Values], ...] = ()
    by_index: bool = False

    @property
    def varied(self) -> frozenset[str]:
        """The settings whose values the ablation varies."""
        return frozenset(self.values).union(*(values for _, values in self.baselines))


ABLATIONS: Mapping[str, Ablation] = MappingProxyType(
    {
        "threshold": Ablation(
            ("flare", "scaar"), {"theta": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)}
        ),
        # SCAAR's Table 3; attention and RIND need a white-box model.
        "weighting": Ablation(
            ("scaar",),
            {
                "trigger": ("flare", "rind", "exp_raw"),
                "query": ("current_sentence", "attention", "pfq"),
            },
        ),
        "alpha": Ablation(("scaar",), {"alpha": (25.0, 50.0, 75.0, 100.0)}),
        "granularity": Ablation(("flare", "scaar"), {"granularity": tuple(Granularity)}),
        "top-k": Ablation(("single_round", "flare", "scaar"), {"top_k": (1, 2, 3, 5, 8)}),
        # One lexical and one dense index of the same passages.
        "retriever": Ablation(("single_round", "flare", "scaar"), {}, by_index=True),
        # Whether contributions help: the baselines are without them, but have the parts of scaar
        # that need no scorer.
        "scorer": Ablation(
            ("scaar",),
            {},
            scorers=(None, *Control),
            baselines=(
                ("flare", {}),
                ("flare", {"spare_stop_words": (True,)}),
                ("flare", {"include_question": (True,)}),
            ),
        ),
    }
)
"""Ablations by name, as ``scaar eval ablate`` lists them."""

_OF_THE_POLICY = ("trigger", "query")
"""Fixed values that apply to the policies of an ablation and not to its baselines."""


def plan_ablation(name: str, fixed: Values, indexes: Sequence[str] = ()) -> tuple[Setting, ...]:
    """Return the settings of the ablation, combined with the fixed values.

    The first setting is the model without retrieval, the baseline of retrieval efficiency.

    Raises:
        InvalidRequest: the ablation is unknown; a fixed value is one that it varies or that none
            of its policies takes; or it is one of indexes, and fewer than two are named.
    """
    if name not in ABLATIONS:
        known = ", ".join(ABLATIONS)
        raise InvalidRequest.of("ablation", f"there is no ablation {name!r}; known: {known}")
    ablation = ABLATIONS[name]
    if both := sorted(fixed.keys() & ablation.varied):
        raise InvalidRequest.of(both[0], f"is varied by the ablation {name} and cannot be fixed")
    if ablation.by_index and len(indexes) < 2:
        text = "must name at least two indexes of the same passages to compare: NAME,NAME"
        raise InvalidRequest.of("indexes", text)
    settings = plan_settings(ablation.policies, {**fixed, **ablation.values})
    kept = {each: given for each, given in fixed.items() if each not in _OF_THE_POLICY}
    alone = plan_settings(("no_retrieval",), {})
    found = (
        *alone,
        *with_scorers(settings, ablation.scorers),
        *_baseline_settings(ablation.baselines, kept),
    )
    return with_indexes(found, indexes)


def _baseline_settings(
    policies: Sequence[tuple[str, Values]], fixed: Values
) -> tuple[Setting, ...]:
    found = (
        request
        for policy, values in policies
        for request in requests_of(policy, {**fixed, **values})
    )
    return tuple(setting_of(request) for request in dict.fromkeys(found))
