"""Build of a TensorRT engine of an exported cross-encoder, once per kind of GPU, with a check.

Runs in an init container of the Triton image, which has TensorRT but not scaar's other libraries.
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
    """Precision of an engine. ``onnx`` is that of the file; the others need TensorRT 10."""

    ONNX = "onnx"
    BF16 = "bf16"
    FP16 = "fp16"


@dataclass(frozen=True, slots=True)
class Profile:
    """Shape that an engine is built for: up to ``max_pairs`` pairs of ``width`` tokens."""

    width: int
    max_pairs: int

    @property
    def optimal_pairs(self) -> int:
        """Number of pairs for which the engine is optimized."""
        return max(1, self.max_pairs // 2)


@dataclass(frozen=True, slots=True)
class EngineJob:
    """Input of a build."""

    onnx: Path
    inputs: tuple[str, ...]
    profiles: tuple[Profile, ...]
    precision: Precision
    padding: int


class EngineBuilder(Protocol):
    """TensorRT on this machine's GPU. Methods block, and raise ScaarError if they fail."""

    def tensorrt_version(self) -> tuple[int, ...]:
        """Return the version of TensorRT, such as (10, 3, 0)."""
        ...

    def compute_capability(self) -> str:
        """Return the compute capability of the GPU, such as ``8.6``."""
        ...

    def build(self, job: EngineJob, plan: Path) -> None:
        """Build the engine and write it to ``plan``."""
        ...

    def logits(self, job: EngineJob, plan: Path, pairs: Sequence[GoldenPair]) -> list[float]:
        """Return the logit of each pair, computed by the engine in ``plan``."""
        ...


@dataclass(frozen=True, slots=True)
class BuiltEngine:
    """An engine in the repository. ``built`` is false if it came from the cache."""

    path: Path
    key: str
    built: bool


def build_engine(
    repository: Path, builder: EngineBuilder, *, cache: Path, precision: Precision = Precision.ONNX
) -> BuiltEngine:
    """Add the engine for this machine's GPU to the repository, built or from the cache.

    Of several concurrent builds of the same engine, one builds and the others wait. An engine is
    added to the cache only after it was validated against the golden pairs.

    Raises:
        NotFound: the repository contains no model exported for TensorRT.
        DataCorrupt: the engine's results differ from those of the exported model; the engine is
            discarded.
        CapabilityMissing: the version of TensorRT, or the GPU, is not supported.
    """
    folder = repository / MODEL_NAME
    if not (folder / "model.onnx").is_file():
        text = "export the model with --backend tensorrt"
        raise NotFound(f"{folder / 'model.onnx'} is missing: {text}")
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
            f"TensorRT {named} uses the precision of the ONNX file and has no option for it: "
            f"export the model in {precision} and build with --precision onnx"
        )
    if capability not in CAPABILITIES:
        known = ", ".join(CAPABILITIES)
        raise CapabilityMissing(
            f"the GPU's compute capability must be one of {known}, not {capability}"
        )


def _key(job: EngineJob, version: tuple[int, ...], capability: str) -> str:
    """Return the cache key, of everything that determines the engine's bytes."""
    digest = hashlib.sha256()
    for file in sorted(job.onnx.parent.glob("model.onnx*")):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    profiles = [(each.width, each.optimal_pairs, each.max_pairs) for each in job.profiles]
    parts = (digest.hexdigest(), version, capability, profiles, job.precision)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock that other processes wait for. The lock of a killed process is released."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _put(cached: Path, place: Path) -> Path:
    """Copy the cached engine to its place, atomically."""
    place.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent.parent, prefix=".placing-") as work:
        copy = Path(work) / place.name
        shutil.copyfile(cached, copy)
        copy.rename(place)
    return place
