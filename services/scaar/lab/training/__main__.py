"""Trains the lab's models from nothing: ``python -m scaar.lab.training [lm] [cross-encoder]``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from scaar.lab.export import export_cross_encoder, export_language_model
from scaar.lab.models import LAB_CROSS_ENCODER, LAB_LM, model_folder
from scaar.lab.training import acceptance, cross_encoder, language_model
from scaar.lab.training.report import TrainingLog
from scaar.lab.vocabulary import build_tokenizer

COMMAND = "make lab-models"
REPORT_SEED = 2000


def train_language_model(folder: Path, stages: Sequence[language_model.DecoderTraining]) -> None:
    """Trains ``lab-lm`` and writes its checkpoint, ONNX graph and report."""
    tokenizer = build_tokenizer()
    shape = language_model.DecoderShape(tokenizer.get_vocab_size())
    log = TrainingLog(COMMAND, stages[0].seed)
    params = language_model.initial_params(shape, stages[0].seed)
    for number, training in enumerate(stages, 1):

        def tell(progress: language_model.Progress, number: int = number) -> None:
            log.add(progress, stage=number)
            print(f"{folder.name}, stage {number}, step {progress.step}: {progress.loss:.4f}")

        params = language_model.train(shape, params, training, tokenizer, tell=tell)
    measured = acceptance.measure_language_model(shape, params, tokenizer, seed=REPORT_SEED)
    export_language_model(params, shape, folder, log.report(shape, stages, measured))


def train_cross_encoder(folder: Path, training: cross_encoder.EncoderTraining) -> None:
    """Trains ``lab-cross-encoder`` and writes its checkpoint, ONNX graph and report."""
    tokenizer = build_tokenizer(pairs=True)
    shape = cross_encoder.EncoderShape(tokenizer.get_vocab_size())
    log = TrainingLog(COMMAND, training.seed)

    def tell(progress: cross_encoder.Progress) -> None:
        log.add(progress)
        print(f"{folder.name}, step {progress.step}: {progress.error:.4f}")

    params = cross_encoder.train(shape, training, tokenizer, tell=tell)
    measured = acceptance.measure_cross_encoder(shape, params, tokenizer, seed=REPORT_SEED)
    export_cross_encoder(params, shape, folder, log.report(shape, [training], measured))


def main(names: list[str]) -> None:
    """Trains the models named, or both."""
    known = {"lm", "cross-encoder"}
    if not set(names) <= known:
        sys.exit(f"unknown model; known: {', '.join(sorted(known))}")
    if not names or "lm" in names:
        train_language_model(model_folder(LAB_LM), language_model.STAGES)
    if not names or "cross-encoder" in names:
        train_cross_encoder(model_folder(LAB_CROSS_ENCODER), cross_encoder.EncoderTraining())


if __name__ == "__main__":
    main(sys.argv[1:])
