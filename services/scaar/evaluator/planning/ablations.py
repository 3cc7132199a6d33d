"""The ablations by name: which policies at which values show what a part is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.types import Formulation, Granularity, Trigger
from scaar.evaluator.planning.indexes import with_indexes
from scaar.evaluator.planning.scorers import with_scorers
from scaar.evaluator.planning.settings import Values, plan_settings, requests_of, setting_of
from scaar.evaluator.records import Setting


@dataclass(frozen=True, slots=True)
class Ablation:
    """Policies and the values of what is varied; everything else stays as it is.

    Those that ask the scorer are run by each of the ``scorers``, None being the scorer itself.
    ``beside`` are policies that stand for comparison, each with values of its own. One ``by_index``
    is run over the several indexes that whoever runs it names.
    """

    policies: tuple[str, ...]
    values: Values
    scorers: tuple[Control | None, ...] = (None,)
    beside: tuple[tuple[str, Values], ...] = ()
    by_index: bool = False

    @property
    def varied(self) -> frozenset[str]:
        """The settings whose values it gives."""
        return frozenset(self.values).union(*(values for _, values in self.beside))


ABLATIONS: Mapping[str, Ablation] = MappingProxyType(
    {
        "threshold": Ablation(
            ("flare", "scaar"), {"theta": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)}
        ),
        # SCAAR's Table 3; attention and RIND need a model of one's own.
        "weighting": Ablation(
            ("scaar",),
            {
                "trigger": (Trigger.FLARE, Trigger.RIND, Trigger.EXP_RAW),
                "query": (Formulation.CURRENT_SENTENCE, Formulation.ATTENTION, Formulation.PFQ),
            },
        ),
        "alpha": Ablation(("scaar",), {"alpha": (25.0, 50.0, 75.0, 100.0)}),
        "granularity": Ablation(("flare", "scaar"), {"granularity": tuple(Granularity)}),
        "top-k": Ablation(("single_round", "flare", "scaar"), {"top_k": (1, 2, 3, 5, 8)}),
        # One index of words and one of vectors, of the same passages.
        "retriever": Ablation(("single_round", "flare", "scaar"), {}, by_index=True),
        # Whether it is the contributions that help: beside them stand what knows less of words,
        # and the parts of scaar that need no scorer.
        "scorer": Ablation(
            ("scaar",),
            {},
            scorers=(None, *Control),
            beside=(
                ("flare", {}),
                ("flare", {"spare_stop_words": (True,)}),
                ("flare", {"include_question": (True,)}),
            ),
        ),
    }
)
"""One that needs what is not built yet is not here."""

_OF_THE_POLICY = ("trigger", "query")
"""What is held for the policies of an ablation, and would make others of those beside them."""


def plan_ablation(name: str, held: Values, indexes: Sequence[str] = ()) -> tuple[Setting, ...]:
    """The settings of the ablation, each beside the values that are held.

    First the model alone, against which the efficiency of retrievals is told.

    Raises:
        InvalidRequest: there is no such ablation, or what is held is what it varies or means
            nothing to its policies; or it is one of indexes, and there are not two.
    """
    if name not in ABLATIONS:
        known = ", ".join(ABLATIONS)
        raise InvalidRequest.of("NAME", f"there is no ablation {name!r}; known: {known}")
    ablation = ABLATIONS[name]
    if both := sorted(held.keys() & ablation.varied):
        raise InvalidRequest.of(both[0], f"is what the ablation {name} varies")
    if ablation.by_index and len(indexes) < 2:
        text = "must name the indexes that are held against each other, of the same passages: NAME,"
        raise InvalidRequest.of("--index", f"{text}NAME")
    settings = plan_settings(ablation.policies, {**held, **ablation.values})
    kept = {each: given for each, given in held.items() if each not in _OF_THE_POLICY}
    alone = plan_settings(("no_retrieval",), {})
    found = (*alone, *with_scorers(settings, ablation.scorers), *_beside(ablation.beside, kept))
    return with_indexes(found, indexes)


def _beside(policies: Sequence[tuple[str, Values]], held: Values) -> tuple[Setting, ...]:
    found = (
        request
        for policy, values in policies
        for request in requests_of(policy, {**held, **values})
    )
    return tuple(setting_of(request) for request in dict.fromkeys(found))
