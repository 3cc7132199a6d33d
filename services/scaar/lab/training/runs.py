"""Trainings of the lab's models.

Each model is trained on one core, with as many concurrent trainings as there are cores, since the
models are too small to benefit from more cores.
"""

import multiprocessing
import os
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.lab.export import export_cross_encoder, export_language_model
from scaar.lab.export.hugging_face import WEIGHTS, decoder_params
from scaar.lab.export.onnx_decoder import decoder_graph
from scaar.lab.models import (
    LAB_CROSS_ENCODER,
    LAB_LM_B,
    LAB_LM_CHAT,
    LAB_LM_FREE,
    LAB_LM_FREE_B,
    LAB_LM_REFLECT,
    LAB_LM_SEARCH,
    LAB_MEANING_ENCODER,
    LAB_RERANKER,
    model_folder,
)
from scaar.lab.shapes import DecoderShape, EncoderShape
from scaar.lab.training import cross_encoder, language_model
from scaar.lab.training.acceptance import measure_cross_encoder, measure_language_model
from scaar.lab.training.checkpoints import Checkpoint
from scaar.lab.training.cross_encoder import (
    EncoderTraining,
    MeaningTraining,
    RelevanceTraining,
)
from scaar.lab.training.form_acceptance import measure_form_model, measure_meaning_encoder
from scaar.lab.training.meaning_pairs import build_meaning_tokenizer
from scaar.lab.training.recipes import (
    LANGUAGE_MODEL_TRAININGS,
    ContinuedTraining,
    DecoderTraining,
    SentenceTraining,
)
from scaar.lab.training.relevance_acceptance import measure_reranker
from scaar.lab.training.report import TrainingLog
from scaar.lab.training.tagged_acceptance import measure_tagged_model, missed_tagged_targets
from scaar.lab.vocabulary import build_tokenizer

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_EVERY = 250
"""Steps between two reports of the progress, and between two checkpoints."""
COMMAND = "make lab-models"
# Each step allocates and frees some hundred megabytes. Large pages save nearly half of its time.
_LARGE_PAGES = "glibc.malloc.hugetlb=1"
REPORT_SEED = 2000
CHECKPOINTS = Path(".lab-training")
"""Folder of checkpoints in the working directory, from which interrupted trainings continue."""

TRAININGS: dict[str, DecoderTraining | EncoderTraining] = {
    **LANGUAGE_MODEL_TRAININGS,
    LAB_CROSS_ENCODER: EncoderTraining(seed=1),
    LAB_MEANING_ENCODER: MeaningTraining(seed=6),
    LAB_RERANKER: RelevanceTraining(seed=10),
    LAB_LM_CHAT: ContinuedTraining(
        seed=11, exercises="conversation", steps=600, rows=6, row_tokens=336, warm_up_steps=50
    ),
    LAB_LM_FREE: ContinuedTraining(seed=12, exercises="free", steps=2_500, rows=8),
    LAB_LM_FREE_B: ContinuedTraining(seed=13, base=LAB_LM_B, exercises="free", steps=2_500, rows=8),
    LAB_LM_REFLECT: ContinuedTraining(seed=8, exercises="reflection"),
    LAB_LM_SEARCH: ContinuedTraining(
        seed=9, exercises="search", steps=2_000, rows=6, row_tokens=560
    ),
}


def train_language_model(folder: Path, training: DecoderTraining) -> None:
    """Train a language model, and write its checkpoint, ONNX graph and report."""
    forms = isinstance(training, SentenceTraining)
    continued = training if isinstance(training, ContinuedTraining) else None
    added = (continued.tags, continued.words) if continued else ((), ())
    tokenizer = build_tokenizer(forms=forms, tags=added[0], words=added[1])
    shape = DecoderShape(tokenizer.get_vocab_size())
    if continued:
        base = decoder_params((model_folder(continued.base) / WEIGHTS).read_bytes())
        params = language_model.extended_params(base, tokenizer, training.seed)
    else:
        params = language_model.initial_params(shape, training.seed)
    log = TrainingLog(COMMAND, training.seed)
    params = language_model.train(
        shape,
        params,
        training,
        tokenizer,
        on_progress=_reporter(folder.name, log, "loss"),
        every=_EVERY,
        checkpoint=_checkpoint(folder.name, shape, training, log),
    )
    graph = decoder_graph(params, shape)
    if continued:
        measured = measure_tagged_model(
            graph, tokenizer, exercises=continued.exercises, seed=REPORT_SEED
        )
    else:
        measure = measure_form_model if forms else measure_language_model
        measured = measure(graph, tokenizer, seed=REPORT_SEED)
    report = log.report(shape, training, measured)
    if continued:
        report["missed"] = missed_tagged_targets(continued.exercises, measured)
    own = tokenizer if forms or continued else None
    profile = continued.prompt_profile if continued else "lab"
    export_language_model(params, shape, folder, report, tokenizer=own, prompt_profile=profile)


def train_cross_encoder(folder: Path, training: EncoderTraining) -> None:
    """Train a cross-encoder, and write its checkpoint, ONNX graph and report."""
    of_meaning = isinstance(training, MeaningTraining)
    tokenizer = build_meaning_tokenizer() if of_meaning else build_tokenizer(pairs=True)
    shape = EncoderShape(tokenizer.get_vocab_size())
    log = TrainingLog(COMMAND, training.seed)
    params = cross_encoder.train(
        shape,
        training,
        tokenizer,
        on_progress=_reporter(folder.name, log, "error"),
        every=_EVERY,
        checkpoint=_checkpoint(folder.name, shape, training, log),
    )
    measured = _measure_of(training)(shape, params, tokenizer, seed=REPORT_SEED)
    report = log.report(shape, training, measured)
    export_cross_encoder(params, shape, folder, report, tokenizer=tokenizer if of_meaning else None)


def _measure_of(training: EncoderTraining) -> Callable[..., dict[str, float]]:
    match training:
        case MeaningTraining():
            return measure_meaning_encoder
        case RelevanceTraining():
            return measure_reranker
        case _:
            return measure_cross_encoder


def _reporter(name: str, log: TrainingLog, value: str) -> Callable[["DataclassInstance"], None]:
    """Return a function that logs and prints the progress of a training."""

    def on_progress(progress: "DataclassInstance") -> None:
        log.add(progress)
        row = log.course[-1]
        print(f"{name}, step {row['step']:.0f}: {row[value]:.4f}", flush=True)

    return on_progress


def _checkpoint(
    name: str, shape: "DataclassInstance", training: "DataclassInstance", log: TrainingLog
) -> Checkpoint:
    recipe = {"shape": asdict(shape), "training": asdict(training)}
    return Checkpoint(CHECKPOINTS / f"{name}.npz", recipe, log)


def train(name: str) -> None:
    """Train a model, and write it to its folder."""
    match TRAININGS[name]:
        case DecoderTraining() as training:
            train_language_model(model_folder(name), training)
        case EncoderTraining() as training:
            train_cross_encoder(model_folder(name), training)


def train_all(names: Iterable[str]) -> None:
    """Train models concurrently, one per core, those that continue from another after it."""
    os.environ.setdefault("GLIBC_TUNABLES", _LARGE_PAGES)
    context = multiprocessing.get_context("spawn")
    cores = context.Queue()
    available = os.sched_getaffinity(0)
    for core in available:
        cores.put(core)
    with ProcessPoolExecutor(len(available), context, _take_core, (cores,)) as pool:
        for stage in stages(tuple(names)):
            for _ in pool.map(train, stage):
                pass


def stages(names: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """Return the names in stages: a model whose base is among the names is in the second one."""
    later = {
        name
        for name in names
        if isinstance(made := TRAININGS[name], ContinuedTraining) and made.base in names
    }
    return tuple(each for each in names if each not in later), tuple(
        each for each in names if each in later
    )


def _take_core(cores: "multiprocessing.Queue[int]") -> None:
    os.sched_setaffinity(0, {cores.get()})
