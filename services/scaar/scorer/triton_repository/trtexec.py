"""Builder of TensorRT engines with the program ``trtexec`` of the Triton image."""

import json
import re
import subprocess
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import CapabilityMissing, DataCorrupt, ScaarError
from scaar.scorer.triton_repository.engine import EngineJob, Precision, Profile
from scaar.scorer.triton_repository.golden import GoldenPair

TRTEXEC = "/usr/src/tensorrt/bin/trtexec"
_VERSION = re.compile(r"\[TensorRT v(\d+)\]")
_OUTPUT_LINES = 12


@dataclass(frozen=True, slots=True)
class TrtexecBuilder:
    """An :class:`~scaar.scorer.triton_repository.engine.EngineBuilder` that runs two programs."""

    trtexec: str = TRTEXEC
    nvidia_smi: str = "nvidia-smi"

    def tensorrt_version(self) -> tuple[int, ...]:
        output = _run([self.trtexec, "--help"])
        found = _VERSION.search(output)
        if found is None:
            raise CapabilityMissing(f"{self.trtexec} does not print its version of TensorRT")
        number = int(found[1])
        # 8601 is 8.6.1, and 100300 is 10.3.0.
        if number < 10_000:
            return number // 1000, number // 100 % 10, number % 100
        return number // 10_000, number // 100 % 100, number % 100

    def compute_capability(self) -> str:
        query = ["--query-gpu=compute_cap", "--format=csv,noheader"]
        found = set(_run([self.nvidia_smi, *query]).split())
        if len(found) != 1:
            listed = ", ".join(sorted(found)) or "none"
            raise CapabilityMissing(f"the GPUs must have one compute capability, not {listed}")
        return found.pop()

    def build(self, job: EngineJob, plan: Path) -> None:
        _run([self.trtexec, *build_flags(job, plan, major=self.tensorrt_version()[0])])

    def logits(self, job: EngineJob, plan: Path, pairs: Sequence[GoldenPair]) -> list[float]:
        found: dict[int, float] = {}
        for number, profile in enumerate(job.profiles):
            below = job.profiles[number - 1].width if number else 0
            mine = [n for n, p in enumerate(pairs) if below < len(p.input_ids) <= profile.width]
            for start in range(0, len(mine), profile.max_pairs):
                part = mine[start : start + profile.max_pairs]
                answered = self._run_profile(job, plan, number, [pairs[each] for each in part])
                found.update(zip(part, answered, strict=True))
        return [found[number] for number in sorted(found)]

    def _run_profile(
        self, job: EngineJob, plan: Path, profile: int, pairs: Sequence[GoldenPair]
    ) -> list[float]:
        width = job.profiles[profile].width
        with tempfile.TemporaryDirectory() as work:
            files = _write_inputs(Path(work), job, pairs, width)
            output = Path(work) / "output.json"
            shapes = _shapes(job.inputs, len(pairs), width)
            flags = [
                f"--loadEngine={plan}",
                f"--useProfile={profile}",
                f"--shapes={shapes}",
                "--loadInputs=" + ",".join(f"{name}:{file}" for name, file in files.items()),
                f"--exportOutput={output}",
                *("--iterations=1", "--warmUp=0", "--duration=0"),
            ]
            _run([self.trtexec, *flags])
            return _read_logits(output, len(pairs))


def build_flags(job: EngineJob, plan: Path, *, major: int) -> list[str]:
    """Return the options of ``trtexec`` that build the engine, for a major version of TensorRT."""
    flags = [f"--onnx={job.onnx}", f"--saveEngine={plan}", "--skipInference"]
    if major == 10:
        # TensorRT 11 has neither option, and uses the precision of the file.
        flags.append("--stronglyTyped" if job.precision is Precision.ONNX else f"--{job.precision}")
    for number, profile in enumerate(job.profiles):
        flags += [f"--profile={number}", *_profile_flags(job.inputs, profile)]
    return flags


def _profile_flags(inputs: Sequence[str], profile: Profile) -> Iterator[str]:
    sizes = (("min", 1), ("opt", profile.optimal_pairs), ("max", profile.max_pairs))
    return (f"--{bound}Shapes={_shapes(inputs, pairs, profile.width)}" for bound, pairs in sizes)


def _shapes(inputs: Sequence[str], pairs: int, width: int) -> str:
    return ",".join(f"{name}:{pairs}x{width}" for name in inputs)


def _write_inputs(
    folder: Path, job: EngineJob, pairs: Sequence[GoldenPair], width: int
) -> Mapping[str, Path]:
    """Write a file of raw int64 values for each input of the batch."""
    files = {}
    for name in job.inputs:
        numbers = array("q")
        for pair in pairs:
            missing = width - len(pair.input_ids)
            row = {
                "input_ids": (*pair.input_ids, *(job.padding,) * missing),
                "attention_mask": (*(1,) * len(pair.input_ids), *(0,) * missing),
                "token_type_ids": (*pair.token_type_ids, *(0,) * missing),
            }[name]
            numbers.extend(row)
        files[name] = folder / f"{name}.bin"
        files[name].write_bytes(numbers.tobytes())
    return files


def _read_logits(output: Path, count: int) -> list[float]:
    try:
        (values,) = (each["values"] for each in json.loads(output.read_text()))
        logits = [float(each) for each in values]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataCorrupt(f"the engine's output cannot be read: {error!r}") from error
    if len(logits) != count:
        raise DataCorrupt(f"the engine returns {len(logits)} numbers for {count} pairs")
    return logits


def _run(command: Sequence[str]) -> str:
    """Run a program and return its output. If it fails, the error has its last lines."""
    try:
        ran = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    except OSError as error:
        text = f"{command[0]} cannot be run: {error.strerror}"
        raise CapabilityMissing(text) from error
    if ran.returncode:
        output = "\n".join(ran.stdout.splitlines()[-_OUTPUT_LINES:])
        raise ScaarError(f"{command[0]} failed with status {ran.returncode}: {output}")
    return ran.stdout
