"""Export of a cross-encoder's checkpoint folder as a Triton model repository."""

import hashlib
import shutil
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scaar.core.errors import AlreadyExists, InvalidRequest
from scaar.encoders.checkpoint import MODEL_FILES, Checkpoint, read_checkpoint
from scaar.encoders.cross_encoder import CrossEncoder, open_cross_encoder
from scaar.encoders.tensor_names import INPUTS
from scaar.runtime.disk import write_problem
from scaar.scorer.triton_repository.golden import GOLDEN_FILE, Golden, write_golden
from scaar.scorer.triton_repository.golden_texts import golden_pairs
from scaar.scorer.triton_repository.model_config import (
    MODEL_NAME,
    Backend,
    ModelShape,
    config_text,
    mask_name,
)

ONNX_FILE = "model.onnx"
VERSION = "1"
_PYTHON_BACKEND = Path(__file__).with_name("python_backend.py")


def export_scorer(
    folder: Path, to: Path, *, backend: Backend, max_batch_size: int = 64, force: bool = False
) -> Path:
    """Write the repository ``to`` atomically. Return the model's folder in it.

    ``folder`` contains a checkpoint of any cross-encoder with one logit. A checkpoint without an
    ONNX file is converted first, if PyTorch and transformers are installed.

    Raises:
        NotFound: the checkpoint, or a file of it, is missing.
        DataCorrupt: a file of it is damaged, or the model does not have one logit.
        CapabilityMissing: there is no ONNX file, and the libraries that create one are not
            installed.
        AlreadyExists: ``to`` exists, and ``force`` is not set.
        InvalidRequest: ``to`` contains other files, so it is not replaced, or cannot be written.
    """
    _check_place(to, force=force)
    if folder.is_dir() and not any((folder / name).is_file() for name in MODEL_FILES):
        # PyTorch is imported only if needed: few exports need its 5 GB.
        from scaar.scorer.triton_repository.onnx_export import export_onnx

        with tempfile.TemporaryDirectory() as work:
            whole = Path(work) / folder.resolve().name
            export_onnx(folder, whole)
            return export_scorer(
                whole, to, backend=backend, max_batch_size=max_batch_size, force=force
            )
    checkpoint = read_checkpoint(folder)
    model = open_cross_encoder(folder, threads=1)
    shape = ModelShape(
        inputs=tuple(name for name in INPUTS if name in model.inputs),
        max_pair_tokens=model.max_pair_tokens,
        padding=model.padding,
        revision=checkpoint.revision,
        tokenizer_sha256=hashlib.sha256(checkpoint.tokenizer.read_bytes()).hexdigest(),
        max_batch_size=max_batch_size,
    )
    try:
        with _replaced(to) as new:
            write_configuration(new / MODEL_NAME, backend, shape)
            _copy_weights(checkpoint, new / MODEL_NAME, backend)
            _write_golden(new / MODEL_NAME, model, shape)
    except OSError as error:
        raise InvalidRequest.of("--to", write_problem(to, error)) from error
    return to / MODEL_NAME


def write_configuration(folder: Path, backend: Backend, shape: ModelShape) -> None:
    """Write the model's folder without weights: configuration, warm-up data and program."""
    (folder / VERSION).mkdir(parents=True)
    (folder / "warmup").mkdir()
    (folder / "config.pbtxt").write_text(config_text(backend, shape))
    for width in shape.widths:
        (folder / "warmup" / mask_name(width)).write_bytes(array("q", [1] * width).tobytes())
    if backend is Backend.PYTHON:
        shutil.copyfile(_PYTHON_BACKEND, folder / VERSION / "model.py")


def _copy_weights(checkpoint: Checkpoint, folder: Path, backend: Backend) -> None:
    # For TensorRT, the engine is built from the ONNX file, which Triton must not open.
    place = folder if backend is Backend.TENSORRT else folder / VERSION
    shutil.copyfile(checkpoint.model, place / ONNX_FILE)
    # Weights of more than 2 GB are in files beside the model, which refers to them.
    for beside in checkpoint.model.parent.glob(f"{checkpoint.model.name}?data*"):
        shutil.copyfile(beside, place / beside.name)


def _write_golden(folder: Path, model: CrossEncoder, shape: ModelShape) -> None:
    golden = Golden(
        inputs=shape.inputs,
        widths=shape.widths,
        max_batch_size=shape.max_batch_size,
        padding=shape.padding,
        pairs=golden_pairs(model, shape.widths),
    )
    write_golden(folder / GOLDEN_FILE, golden)


def _check_place(to: Path, *, force: bool) -> None:
    if not to.exists() and not to.is_symlink():
        return
    if not force:
        raise AlreadyExists(f"{to} exists already; --force replaces it")
    if not to.is_dir() or to.is_symlink() or {each.name for each in to.iterdir()} - {MODEL_NAME}:
        text = f"{to} contains other files than the model {MODEL_NAME}, so it is not replaced"
        raise InvalidRequest.of("--to", text)


@contextmanager
def _replaced(to: Path) -> Iterator[Path]:
    """Yield a folder that replaces ``to`` when the block ends without an error."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=f".{to.name}-") as work:
        new, old = Path(work) / "new", Path(work) / "old"
        new.mkdir()
        yield new
        if to.exists():
            to.rename(old)
        try:
            new.rename(to)
        except OSError:
            if old.exists():
                old.rename(to)
            raise
