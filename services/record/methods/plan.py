"""The plan: fitted parts from a development world, then every method on each unseen world."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from record.ceiling import FRONTIERS, ORACLES
from record.longtail.plan import gate_file, labels_of, learned_gate
from record.plan import SHIPPED, WORLDS, evaluations_of_world
from record.pool import TUNED
from record.steps import Command, Evaluation, Step
from scaar.evaluator.studies.longtail.gece import Variant
from scaar.lab.models import LAB_LM, LANGUAGE_MODELS

DEVELOPMENT_SEED, DEVELOPMENT_QUESTIONS = 1_061, 300
_MODELS = "services/scaar/lab/models"
ENCODER = "encoder"
"""Folder of the sentence encoder among the results, written before the run."""
ANSWERS, JUDGEMENTS, LABELS = "development-answers", "development-judgements", "development-labels"
COUNTS = "lab.counts"
SAMPLING_GATES = (
    "targ",
    "targ_entropy",
    "targ_variance",
    "lexsim",
    "p_true",
    "verbalised",
    "seakr",
)
"""Gates that let the model write before it answers, and need no training."""
SHARE = 0.5
"""Share of the development questions that the threshold of a gate lets retrieve."""
MEAN_SURPRISALS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Thetas of ``dtr``, around the 0.001 of its authors' code."""
VECTORS = "vectors"
"""Kind of the evaluations on an index of vectors."""
TRANSFER = "transfer"
COST = "cost"
"""The evaluation whose times the cost model is fitted to."""


FITTED_GATES: Mapping[str, tuple[str, ...]] = {
    "skr": ("eval", "fit-skr", "{results}/" + ANSWERS, "--encoder", "{results}/" + ENCODER),
    "adaptive_rag": ("eval", "router", "fit", "{results}/" + ANSWERS),
    "probe": ("eval", "fit-probe", "{results}/" + ANSWERS, "--layers", "1,2,3"),
    "p_correct": ("eval", "fit-p-correct", "{results}/" + ANSWERS),
}
"""Gates with a file, and the commands that fit them to answers of the development world."""


def plan() -> tuple[Step, ...]:
    """Return every step, each after the steps that it needs."""
    worlds = (step for seed in WORLDS for step in _of_world(seed))
    return (*_fitted(), *worlds, *_transfers(), _timed())


def _fitted() -> Iterator[Step]:
    """Yield the answers of the development world and what is fitted to them."""
    common = Evaluation(
        name=ANSWERS,
        policies=("no_retrieval", "single_round"),
        skip_unserved=False,
        seed=DEVELOPMENT_SEED,
        limit=DEVELOPMENT_QUESTIONS,
    )
    yield replace(common, policies=(*common.policies, "ircot"))
    yield replace(common, name=JUDGEMENTS, gates=SAMPLING_GATES)
    for gate in SAMPLING_GATES:
        words = ("eval", "fit-gate", "{results}/" + JUDGEMENTS, "--gate", gate)
        yield _writes(f"{gate}.json", *words, "--budget", f"{SHARE:g}")
    yield from (_writes(f"{gate}.json", *words) for gate, words in FITTED_GATES.items())
    yield labels_of(LABELS, seed=DEVELOPMENT_SEED, limit=DEVELOPMENT_QUESTIONS)
    yield learned_gate(Variant.GECE, LABELS)
    yield _writes(COUNTS, "corpus", "count", "--lab", LAB_LM, start_s=300)


def _of_world(seed: int) -> Iterator[Step]:
    """Yield the evaluations of a world, whose names end with its seed."""
    kinds = (f"{FRONTIERS}-", f"{TUNED}-", f"{ORACLES}-")
    yield from (each for each in evaluations_of_world(seed) if each.name.startswith(kinds))
    dense = {
        "SCAAR_RETRIEVER_INDEXES": "{results}/indexes",
        "SCAAR_RETRIEVER_ENCODER": "{results}/" + ENCODER,
    }
    index = f"dense-{seed}"
    built = ("index", "build", index, "--lab", "--seed", str(seed), "--if-needed")
    yield Command(
        name=f"indexes/{index}",
        words=(*built, "--encoder", "{results}/" + ENCODER),
        installation=dense,
        start_s=60,
    )
    common = Evaluation(
        name="", policies=("no_retrieval", "single_round"), skip_unserved=False, seed=seed
    )
    yield replace(
        common,
        name=f"{VECTORS}-{seed}",
        policies=("no_retrieval", "single_round", "dtr", "dtr_reference"),
        values={"theta": MEAN_SURPRISALS},
        index=index,
        installation=dense,
    )
    counts = {"SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE": "{results}/" + COUNTS}
    yield replace(
        common,
        name=f"counts-{seed}",
        policies=("no_retrieval", "quco"),
        grid=6,
        installation=counts,
    )
    yield replace(common, name=f"filter-{seed}", policies=("no_retrieval", "filco"))
    yield replace(
        common,
        name=f"search-{seed}",
        policies=("no_retrieval", "model_asks"),
        values={"max_searches": (1, 2, 3, 5)},
        model="lab-lm-search",
    )
    yield replace(
        common,
        name=f"reflect-{seed}",
        policies=("no_retrieval", "self_rag"),
        values={"retrieve_above": (0.05, 0.2, 0.5, 0.8, 0.95)},
        model="lab-lm-reflect",
    )
    yield replace(common, name=f"gates-{seed}", gates=SAMPLING_GATES, thresholds=True)
    files = {each: f"{each}.json" for each in FITTED_GATES}
    for gate, file in {**files, "gece_proxy": gate_file(Variant.GECE)}.items():
        encoder = {"SCAAR_ORCHESTRATOR_GATE_ENCODER": "{results}/" + ENCODER}
        settings = {"SCAAR_ORCHESTRATOR_GATE_FILE": "{results}/" + file}
        yield replace(
            common,
            name=f"{gate}-{seed}",
            gates=(gate,),
            installation=settings | encoder if gate == "skr" else settings,
        )


def _transfers() -> Iterator[Step]:
    """Yield the tuned policy of every model with every model, on the first world."""
    for model, source in itertools.product(LANGUAGE_MODELS, LANGUAGE_MODELS):
        yield Evaluation(
            name=f"{transfer_kind(model, source)}-{WORLDS[0]}",
            policies=("no_retrieval",),
            artefact=f"{_MODELS}/{source}/policies/{SHIPPED}.json",
            mismatch=model != source,
            model=model,
            skip_unserved=False,
            seed=WORLDS[0],
        )


def transfer_kind(model: str, source: str) -> str:
    """Return the kind of the evaluations of the tuned policy of a model with another one."""
    return f"{TRANSFER}-{model}-from-{source}"


def _timed() -> Step:
    return Evaluation(name=COST, limit=100, timed=True)


def _writes(name: str, *words: str, start_s: float = 5.0) -> Command:
    return Command(name=name, words=(*words, "--out", "{results}/" + name), start_s=start_s)
