"""Trainings of the lab's models.

Each model is trained on one core, with as many concurrent trainings as there are cores, since the
models are too small to benefit from more cores.
"""

import multiprocessing
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from scaar.lab.export import export_cross_encoder, export_language_model
from scaar.lab.export.onnx_decoder import decoder_graph
from scaar.lab.models import (
    LAB_CROSS_ENCODER,
    LAB_LM,
    LAB_LM_B,
    LAB_LM_CONFIDENT,
    model_folder,
)
from scaar.lab.training import acceptance, cross_encoder, language_model
from scaar.lab.training.cross_encoder import EncoderTraining
from scaar.lab.training.language_model import DecoderTraining
from scaar.lab.training.report import TrainingLog
from scaar.lab.vocabulary import build_tokenizer

COMMAND = "make lab-models"
# Each step allocates and frees some hundred megabytes. Large pages save nearly half of its time.
_LARGE_PAGES = "glibc.malloc.hugetlb=1"
REPORT_SEED = 2000

TRAININGS: dict[str, DecoderTraining | EncoderTraining] = {
    LAB_LM: DecoderTraining(seed=2),
    LAB_LM_B: DecoderTraining(seed=1),
    LAB_LM_CONFIDENT: DecoderTraining(seed=3, steps=5_000, sharpness=2.0),
    LAB_CROSS_ENCODER: EncoderTraining(seed=1),
}


def train_language_model(folder: Path, training: DecoderTraining) -> None:
    """Train a language model, and write its checkpoint, ONNX graph and report."""
    tokenizer = build_tokenizer()
    shape = language_model.DecoderShape(tokenizer.get_vocab_size())
    log = TrainingLog(COMMAND, training.seed)

    def on_progress(progress: language_model.Progress) -> None:
        log.add(progress)
        print(f"{folder.name}, step {progress.step}: {progress.loss:.4f}", flush=True)

    params = language_model.initial_params(shape, training.seed)
    params = language_model.train(shape, params, training, tokenizer, on_progress=on_progress)
    graph = decoder_graph(params, shape)
    measured = acceptance.measure_language_model(graph, tokenizer, seed=REPORT_SEED)
    export_language_model(params, shape, folder, log.report(shape, training, measured))


def train_cross_encoder(folder: Path, training: EncoderTraining) -> None:
    """Train ``lab-cross-encoder``, and write its checkpoint, ONNX graph and report."""
    tokenizer = build_tokenizer(pairs=True)
    shape = cross_encoder.EncoderShape(tokenizer.get_vocab_size())
    log = TrainingLog(COMMAND, training.seed)

    def on_progress(progress: cross_encoder.Progress) -> None:
        log.add(progress)
        print(f"{folder.name}, step {progress.step}: {progress.error:.4f}", flush=True)

    params = cross_encoder.train(shape, training, tokenizer, on_progress=on_progress)
    measured = acceptance.measure_cross_encoder(shape, params, tokenizer, seed=REPORT_SEED)
    export_cross_encoder(params, shape, folder, log.report(shape, training, measured))


def train(name: str) -> None:
    """Train a model, and write it to its folder."""
    match TRAININGS[name]:
        case DecoderTraining() as training:
            train_language_model(model_folder(name), training)
        case EncoderTraining() as training:
            train_cross_encoder(model_folder(name), training)


def train_all(names: Iterable[str]) -> None:
    """Train models concurrently, one per core."""
    os.environ.setdefault("GLIBC_TUNABLES", _LARGE_PAGES)
    context = multiprocessing.get_context("spawn")
    cores = context.Queue()
    available = os.sched_getaffinity(0)
    for core in available:
        cores.put(core)
    with ProcessPoolExecutor(len(available), context, _take_core, (cores,)) as pool:
        for _ in pool.map(train, names):
            pass


def _take_core(cores: "multiprocessing.Queue[int]") -> None:
    os.sched_setaffinity(0, {cores.get()})
