"""The plan of the results: every policy, ablations, models, and worlds with oracles."""

import itertools
from collections.abc import Iterator, Mapping

from record.steps import Evaluation
from scaar.evaluator.oracles import ORACLE, ORACLE_ERROR, PLANNED, plan_of
from scaar.evaluator.planning.settings import Value
from scaar.lab.models import LANGUAGE_MODELS

QUESTIONS = 2_000
"""Questions of the comparison of policies; other evaluations have fewer."""
STYLES = (0.0, 0.25, 0.5, 0.75, 1.0)
WORLDS = (2_101, 2_102, 2_103)
"""Worlds that no setting was chosen on, for the comparisons with oracles."""
SHIPPED = "tuned-1.4"
"""The tuned policy that ships with the lab's model."""
SHIPPED_PARTS: Mapping[str, tuple[Value, ...]] = {
    "query": ("current_sentence",),
    "top_k": (1,),
    "mask_below": (0.8,),
}
"""Its settings beside its trigger, perplexity, and its theta."""
ORACLE_POLICIES = (ORACLE_ERROR, PLANNED)
FACTORIAL_QUERIES = ("current_sentence", "pfq")
PLANNED_SENTENCES = 4
"""Number of sentences of which every set is planned; no answer states more facts."""


def plan() -> tuple[Evaluation, ...]:
    """Return every evaluation of record."""
    return (
        Evaluation(name="policies", limit=QUESTIONS, grid=6),
        Evaluation(name="cost", limit=100, timed=True),
        *(
            Evaluation(
                name=f"weighting-{each}",
                ablation="weighting",
                limit=150,
                grid=2,
                model=each,
            )
            for each in LANGUAGE_MODELS
        ),
        Evaluation(name="alpha", ablation="alpha", limit=200),
        Evaluation(name="top-k", ablation="top-k", limit=120),
        Evaluation(name="granularity", ablation="granularity", limit=200),
        Evaluation(name="scorer", ablation="scorer", limit=150, grid=2),
        *(
            Evaluation(
                name=f"models-{each}",
                policies=("no_retrieval", "single_round", "ircot", "flare", "dragin", "scaar"),
                limit=150,
                grid=2,
                model=each,
            )
            for each in LANGUAGE_MODELS
        ),
        *(
            Evaluation(
                name=f"style-{style:g}",
                policies=("no_retrieval", "single_round", "flare", "scaar"),
                limit=100,
                grid=2,
                parameters={"style": style},
            )
            for style in STYLES
        ),
        *(each for seed in WORLDS for each in evaluations_of_world(seed)),
    )


def evaluations_of_world(seed: int) -> Iterator[Evaluation]:
    """Yield the evaluations of a world: frontiers, policies as deployed, oracles, a factorial."""
    yield Evaluation(name=f"frontiers-{seed}", grid=6, seed=seed)
    yield Evaluation(name=f"deployed-{seed}", seed=seed)
    yield Evaluation(
        name=f"tuned-{seed}",
        policies=("perplexity",),
        tuned=(SHIPPED,),
        values=SHIPPED_PARTS,
        grid=6,
        seed=seed,
    )
    yield Evaluation(
        name=f"oracles-{seed}", policies=ORACLE_POLICIES, values=oracle_values(), seed=seed
    )
    yield Evaluation(
        name=f"factorial-{seed}",
        policies=("flare", "scaar", "perplexity"),
        values={"query": FACTORIAL_QUERIES, "exclude_seen": ("none", "seen")},
        grid=4,
        seed=seed,
    )


def oracle_values() -> Mapping[str, tuple[Value, ...]]:
    """Return the settings of the oracles: each query, and every set of planned retrievals."""
    plans = (
        set(each)
        for size in range(PLANNED_SENTENCES + 1)
        for each in itertools.combinations(range(PLANNED_SENTENCES), size)
    )
    return {
        "query": ("current_sentence", ORACLE),
        "theta": tuple(sorted(int(plan_of(each)) for each in plans)),
    }
