"""The plan: the evaluations behind each table of SCAAR, DRAGIN and GECE."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from record.longtail.plan import LEARNED_BY, TAIL_SHARE, gate_file, labels_of, learned_gate
from record.methods.plan import DEVELOPMENT_SEED, ENCODER
from record.steps import UNCACHED, Command, Evaluation, Step
from scaar.evaluator.planning.settings import Value
from scaar.lab.models import LANGUAGE_MODELS

WORLDS = (5_101,)
"""Worlds that nothing was chosen on, by their seeds."""
WORLD_QUESTIONS = 100
"""Number of questions of each world."""
TAIL_WORLD, TAIL_QUESTIONS = 5_103, 100
"""The world of GECE's tables, one question in five of the long tail."""
LABELLED = 150
"""Number of questions of the development world that the gates of GECE's tables learn from."""
THETAS = (0.7, 0.8, 0.9)
"""The thresholds of SCAAR, which its tables use for FLARE and DRAGIN too."""
RIND_THETAS = (0.4, 0.7, 1.0, 1.3)
"""Thresholds of RIND around those that the lab's model recommends."""
DOCUMENTS = (10, 15, 20)
QUERIES = (
    "current_sentence",
    "full_context",
    "last_sentence",
    "last_n_tokens",
    "attention",
    "attention_reference",
)
"""The queries of FLARE, of all that was written, of FS-RAG, of FL-RAG, and of DRAGIN twice."""
NEVER = "no_retrieval"
DYNAMIC = ("fixed_length", "fixed_sentence", "flare", "dragin", "dragin_reference")
EVERY = (NEVER, "single_round", *DYNAMIC, "scaar")
OF_SCAAR = tuple(each for each in EVERY if each != "dragin_reference")
"""The policies of SCAAR's main table."""
MAIN, DENSE, ENCODERS, TIMED = "main", "retrievers", "encoders", "timed"
TIMING, THETA, RIND = "timing", "theta", "rind"
"""Kinds of evaluations, whose names end with the seed of their world."""
WORDS, VECTORS = "words", "vectors"
"""Names of the indexes of a world, by words (BM25) and by vectors."""
TAIL_LABELS, LEARNED_LABELS = f"labels-{TAIL_WORLD}", f"labels-{DEVELOPMENT_SEED}"
ANSWERS, SKR_FILE = "answers", "skr.json"
GATED, DOCUMENTED, SKR, REFLECT = "gated", "documents", "skr", "reflect"
"""The evaluations of GECE's tables."""


def plan() -> tuple[Step, ...]:
    """Return every step, each after the steps that it needs."""
    worlds = (step for seed in WORLDS for step in _of_world(seed))
    return (*worlds, *_long_tail())


def main_kind(model: str) -> str:
    """Return the kind of the evaluations of the main table with a model of the lab."""
    return f"{MAIN}-{model}"


def _of_world(seed: int) -> Iterator[Step]:
    """Yield the evaluations of SCAAR's and DRAGIN's tables, whose names end with the seed."""
    common = Evaluation(name="", skip_unserved=False, seed=seed, limit=WORLD_QUESTIONS)

    def evaluation(kind: str, *policies: str, **others: object) -> Evaluation:
        return replace(common, name=f"{kind}-{seed}", policies=policies, **others)  # type: ignore[arg-type]

    for model in LANGUAGE_MODELS:
        yield evaluation(main_kind(model), *OF_SCAAR, values={"theta": THETAS}, model=model)
    # The settings of an evaluation are the same in every world, and so are the names of indexes.
    folder = f"indexes-{seed}"
    indexes = {
        "SCAAR_RETRIEVER_INDEXES": "{results}/" + folder,
        "SCAAR_RETRIEVER_ENCODER": "{results}/" + ENCODER,
    }
    for index, options in ((WORDS, ()), (VECTORS, ("--encoder", "{results}/" + ENCODER))):
        built = ("index", "build", index, "--lab", "--seed", str(seed), "--if-needed", *options)
        yield Command(name=f"{folder}/{index}", words=built, installation=indexes, start_s=60)
    yield evaluation(
        *(DENSE, NEVER, "single_round", "flare", "dragin", "dragin_reference", "scaar"),
        index=f"{WORDS},{VECTORS}",
        installation=indexes,
    )
    bi_encoder = {
        "SCAAR_SCORER_ENGINE": "bi_encoder",
        "SCAAR_SCORER_MODEL": "{results}/" + ENCODER,
    }
    yield evaluation(ENCODERS, NEVER, "scaar", values={"theta": THETAS}, installation=bi_encoder)
    yield evaluation(TIMED, *EVERY, timed=True, installation=UNCACHED)
    last: Mapping[str, tuple[Value, ...]] = {"query": ("last_sentence",)}
    yield evaluation(TIMING, NEVER, *DYNAMIC, values=last)
    judged = (NEVER, "dragin", "dragin_reference")
    yield evaluation(THETA, *judged, values={**last, "theta": RIND_THETAS})
    yield evaluation(RIND, *judged, values={"query": QUERIES})


def _long_tail() -> Iterator[Step]:
    """Yield the labels, gates and evaluations of GECE's tables."""
    yield labels_of(LEARNED_LABELS, seed=DEVELOPMENT_SEED, limit=LABELLED)
    yield learned_gate(LEARNED_BY, LEARNED_LABELS)
    yield labels_of(TAIL_LABELS, seed=TAIL_WORLD, limit=TAIL_QUESTIONS)
    common = Evaluation(
        name=ANSWERS,
        policies=(NEVER, "single_round"),
        parameters={"tail-share": TAIL_SHARE},
        skip_unserved=False,
        seed=DEVELOPMENT_SEED,
        limit=LABELLED,
    )
    timed = replace(common, timed=True, seed=TAIL_WORLD, limit=TAIL_QUESTIONS)
    gate = {"SCAAR_ORCHESTRATOR_GATE_FILE": "{results}/" + gate_file(LEARNED_BY)}

    def evaluation(
        name: str, *policies: str, installation: Mapping[str, str] | None = None, **others: object
    ) -> Evaluation:
        return replace(
            timed,
            name=name,
            policies=(NEVER, *policies),
            installation={**UNCACHED, **(installation or {})},
            **others,  # type: ignore[arg-type]
        )

    methods = ("single_round", "ircot", "iter_retgen", "filco")
    yield evaluation(GATED, *methods, gates=("gece_proxy",), installation=gate)
    yield evaluation(DOCUMENTED, "single_round", values={"top_k": DOCUMENTS})
    yield common
    encoder = "{results}/" + ENCODER
    fitted = ("eval", "fit-skr", "{results}/" + ANSWERS, "--encoder", encoder)
    yield Command(name=SKR_FILE, words=(*fitted, "--out", "{results}/" + SKR_FILE))
    vote = {
        "SCAAR_ORCHESTRATOR_GATE_FILE": "{results}/" + SKR_FILE,
        "SCAAR_ORCHESTRATOR_GATE_ENCODER": encoder,
    }
    yield evaluation(SKR, "single_round", gates=("skr",), installation=vote)
    yield evaluation(REFLECT, "self_rag", model="lab-lm-reflect")
