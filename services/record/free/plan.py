"""The plan: policies and oracles of each model on unseen worlds, and a sweep of the free words.

The policies are compared where every word without facts varies freely, which is the ground of
SCAAR's claim. Their scorer is the one that was trained without labels of words.
"""

from collections.abc import Iterator, Mapping

from record.ceiling import DEPLOYED, FRONTIERS, ORACLES
from record.plan import FACTORIAL_QUERIES, PLANNED_SENTENCES, SHIPPED, Entry, Step, subsets
from scaar.evaluator.oracles import ORACLE, ORACLE_ERROR, PLANNED, plan_of
from scaar.evaluator.planning.settings import Value
from scaar.lab.models import FREE_MODELS, LAB_LM_FREE, LAB_MEANING_ENCODER
from scaar.lab.sentences.forms import RATES

WORLDS = (6_101, 6_102, 6_103)
"""Worlds that nothing was chosen on, by their seeds."""
QUESTIONS = 300
"""Questions of each world."""
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


def plan() -> tuple[Step, ...]:
    """Return every step of the record."""
    models = (entry for model in FREE_MODELS for seed in WORLDS for entry in _of_world(model, seed))
    sweep = (
        Entry(
            name=f"{SWEEP}-{rate:g}",
            limit=QUESTIONS,
            policies=SWEPT,
            grid=6,
            model=LAB_LM_FREE,
            parameters={"freedom": rate},
            installation=INSTALLATION,
            seed=SWEEP_WORLD,
        )
        for rate in RATES
    )
    controls = Entry(
        name=CONTROLS,
        limit=QUESTIONS,
        ablation="scorer",
        grid=6,
        model=LAB_LM_FREE,
        parameters=FULL,
        installation=INSTALLATION,
        seed=SWEEP_WORLD,
    )
    by_role = Entry(
        name=BY_ROLE,
        limit=QUESTIONS,
        policies=SWEPT,
        grid=6,
        model=LAB_LM_FREE,
        parameters=FULL,
        seed=SWEEP_WORLD,
    )
    factorial = Entry(
        name=f"{FACTORIAL}-{SWEEP_WORLD}",
        limit=QUESTIONS,
        policies=("flare", "scaar", "perplexity"),
        values={"query": FACTORIAL_QUERIES, "exclude_seen": ("none", "seen")},
        grid=4,
        model=LAB_LM_FREE,
        parameters=FULL,
        seed=SWEEP_WORLD,
        installation=INSTALLATION,
    )
    return (*models, *sweep, controls, by_role, factorial)


def _of_world(model: str, seed: int) -> Iterator[Step]:
    """Yield policies at several thetas and at their own, with the tuned one, and oracles."""

    def entry(
        kind: str,
        policies: tuple[str, ...],
        *,
        tuned: tuple[str, ...] = (),
        values: Mapping[str, tuple[Value, ...]] | None = None,
        grid: int | None = None,
    ) -> Entry:
        return Entry(
            name=f"{model}/{kind}-{seed}",
            limit=QUESTIONS,
            policies=policies,
            tuned=tuned,
            values=values or {},
            grid=grid,
            model=model,
            parameters=FULL,
            seed=seed,
            installation=INSTALLATION,
        )

    plans = (set(each) for n in range(PLANNED_SENTENCES + 1) for each in subsets(n))
    yield entry(FRONTIERS, PUBLISHED, grid=6)
    yield entry(DEPLOYED, PUBLISHED, tuned=(SHIPPED,))
    yield entry(
        ORACLES,
        (ORACLE_ERROR, PLANNED),
        values={
            "query": ("current_sentence", ORACLE),
            "theta": tuple(sorted(int(plan_of(each)) for each in plans)),
        },
    )
