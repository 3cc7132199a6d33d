"""A TensorRT engine of an exported cross-encoder: built once a GPU, checked, and put in its place.

Runs in an init container of the Triton image, which has TensorRT and no other library of scaar's.
"""

import fcntl
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from scaar.core.errors import CapabilityMissing, NotFound
from scaar.scorer.triton_repository.golden import (
    GOLDEN_FILE,
    Golden,
    GoldenPair,
    check_parity,
    read_golden,
)
from scaar.scorer.triton_repository.model_config import CAPABILITIES, MODEL_NAME, plan_name


class Precision(StrEnum):
    """``onnx`` takes the precision from the file; the others may be asked of TensorRT 10 alone."""

    ONNX = "onnx"
    BF16 = "bf16"
    FP16 = "fp16"


@dataclass(frozen=True, slots=True)
class Profile:
    """Batches that an engine is made for: up to so many pairs of one width."""

    width: int
    most_pairs: int

    @property
    def usual_pairs(self) -> int:
        """What it is made fastest for."""
        return max(1, self.most_pairs // 2)


@dataclass(frozen=True, slots=True)
class EngineJob:
    """What is built."""

    onnx: Path
    inputs: tuple[str, ...]
    profiles: tuple[Profile, ...]
    precision: Precision
    padding: int


class EngineBuilder(Protocol):
    """TensorRT on this machine's GPU. Everything blocks, and a failure is a ScaarError."""

    def tensorrt_version(self) -> tuple[int, ...]:
        """Such as (10, 3, 0)."""
        ...

    def compute_capability(self) -> str:
        """Such as ``8.6``."""
        ...

    def build(self, job: EngineJob, plan: Path) -> None:
        """Writes the engine to ``plan``."""
        ...

    def logits(self, job: EngineJob, plan: Path, pairs: Sequence[GoldenPair]) -> list[float]:
        """What the engine in ``plan`` says of each pair."""
        ...


@dataclass(frozen=True, slots=True)
class BuiltEngine:
    """An engine in its place. ``built`` is false where it was built before."""

    path: Path
    key: str
    built: bool


def build_engine(
    repository: Path, builder: EngineBuilder, *, cache: Path, precision: Precision = Precision.ONNX
) -> BuiltEngine:
    """Puts the engine for this machine's GPU into the repository, from the cache if it is there.

    Of several that build the same at a time one does, and the others wait for it. An engine comes
    into the cache when it has passed against the golden pairs, whole, and never before.

    Raises:
        NotFound: the repository holds no model exported for TensorRT.
        DataCorrupt: the engine's numbers are not those of the exported model; it is dropped.
        CapabilityMissing: TensorRT or the GPU is not one that this can be built for.
    """
    folder = repository / MODEL_NAME
    if not (folder / "model.onnx").is_file():
        text = "export the model with --backend tensorrt"
        raise NotFound(f"{folder / 'model.onnx'}: is not there; {text}")
    golden = read_golden(folder / GOLDEN_FILE)
    job = _job(folder, golden, precision)
    version, capability = builder.tensorrt_version(), builder.compute_capability()
    _check_machine(version, capability, precision)
    key = _key(job, version, capability)
    cache.mkdir(parents=True, exist_ok=True)
    cached = cache / f"{key}.plan"
    with _lock(cache / f"{key}.lock"):
        built = not cached.is_file()
        if built:
            with tempfile.TemporaryDirectory(dir=cache, prefix=".building-") as work:
                plan = Path(work) / "model.plan"
                builder.build(job, plan)
                check_parity(golden.pairs, builder.logits(job, plan, golden.pairs))
                plan.rename(cached)
    return BuiltEngine(_put(cached, folder / "1" / plan_name(capability)), key, built)


def _job(folder: Path, golden: Golden, precision: Precision) -> EngineJob:
    return EngineJob(
        onnx=folder / "model.onnx",
        inputs=golden.inputs,
        profiles=tuple(Profile(width, golden.max_batch_size) for width in golden.widths),
        precision=precision,
        padding=golden.padding,
    )


def _check_machine(version: tuple[int, ...], capability: str, precision: Precision) -> None:
    named = ".".join(map(str, version))
    if version[0] < 10:
        raise CapabilityMissing(f"TensorRT must be 10 or newer, not {named}")
    if version[0] > 10 and precision is not Precision.ONNX:
        raise CapabilityMissing(
            f"TensorRT {named} takes the precision from the ONNX file, and from no flag: export "
            f"the model in {precision} and build with --precision onnx"
        )
    if capability not in CAPABILITIES:
        known = ", ".join(CAPABILITIES)
        raise CapabilityMissing(
            f"the GPU's compute capability must be one of {known}: {capability}"
        )


def _key(job: EngineJob, version: tuple[int, ...], capability: str) -> str:
    """What decides the engine's bytes; another TensorRT or GPU has an engine of its own."""
    digest = hashlib.sha256()
    for file in sorted(job.onnx.parent.glob("model.onnx*")):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    profiles = [(each.width, each.usual_pairs, each.most_pairs) for each in job.profiles]
    parts = (digest.hexdigest(), version, capability, profiles, job.precision)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Waits for any other process that holds the lock; a killed one holds it no longer."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _put(cached: Path, place: Path) -> Path:
    """The cached engine copied to its place, by a rename."""
    place.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent.parent, prefix=".placing-") as work:
        copy = Path(work) / place.name
        shutil.copyfile(cached, copy)
        copy.rename(place)
    return place
