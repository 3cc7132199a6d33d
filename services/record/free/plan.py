"""The plan: policies and oracles of each model on unseen worlds, and a sweep of the free words.

The policies are compared where every word without facts varies freely, which is the ground of
SCAAR's claim. Their scorer is the one that was trained without labels of words.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from record.ceiling import DEPLOYED, FRONTIERS, ORACLES
from record.plan import FACTORIAL_QUERIES, ORACLE_POLICIES, SHIPPED, oracle_values
from record.steps import Evaluation, Step
from scaar.lab.models import FREE_MODELS, LAB_LM_FREE, LAB_MEANING_ENCODER
from scaar.lab.sentences.forms import RATES

WORLDS = (6_101, 6_102, 6_103)
"""Worlds that nothing was chosen on, by their seeds."""
SWEEP_WORLD = 6_104
"""World of the sweep."""
SWEPT = ("no_retrieval", "flare", "perplexity", "scaar")
"""Policies of the sweep."""
SWEEP, CONTROLS = "sweep", "controls"
"""The evaluations at every rate of free words, and those of controls of the scorer."""
BY_ROLE, FACTORIAL = "by-role", "factorial"
"""Evaluations that were added after the others had been seen: with a scorer that was trained on
labels of words by their role, and triggers with equal queries."""
FULL: Mapping[str, float] = {"freedom": 1.0}
PUBLISHED = (
    *("no_retrieval", "single_round", "fixed_length", "flare", "dragin", "etc"),
    *("mean_entropy", "perplexity", "scaar"),
)
"""Published policies of the comparison."""
INSTALLATION: Mapping[str, str] = {
    "SCAAR_SCORER_MODEL": f"services/scaar/lab/models/{LAB_MEANING_ENCODER}"
}


_COMMON = Evaluation(
    name="",
    model=LAB_LM_FREE,
    parameters=FULL,
    installation=INSTALLATION,
    seed=SWEEP_WORLD,
)


def plan() -> tuple[Step, ...]:
    """Return every step of the record."""
    models = (entry for model in FREE_MODELS for seed in WORLDS for entry in _of_world(model, seed))
    swept = replace(_COMMON, policies=SWEPT, grid=6)
    return (
        *models,
        *(replace(swept, name=f"{SWEEP}-{rate:g}", parameters={"freedom": rate}) for rate in RATES),
        replace(_COMMON, name=CONTROLS, ablation="scorer", grid=6),
        replace(swept, name=BY_ROLE, installation={}),
        replace(
            _COMMON,
            name=f"{FACTORIAL}-{SWEEP_WORLD}",
            policies=("flare", "scaar", "perplexity"),
            values={"query": FACTORIAL_QUERIES, "exclude_seen": ("none", "seen")},
            grid=4,
        ),
    )


def _of_world(model: str, seed: int) -> Iterator[Step]:
    """Yield policies at several thetas and at their own, with the tuned one, and oracles."""
    common = replace(_COMMON, model=model, seed=seed)
    yield replace(common, name=f"{model}/{FRONTIERS}-{seed}", policies=PUBLISHED, grid=6)
    yield replace(common, name=f"{model}/{DEPLOYED}-{seed}", policies=PUBLISHED, tuned=(SHIPPED,))
    yield replace(
        common,
        name=f"{model}/{ORACLES}-{seed}",
        policies=ORACLE_POLICIES,
        values=oracle_values(),
    )
