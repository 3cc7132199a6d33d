"""Engines from a fake of TensorRT: keys, locks, parity and places.

No TensorRT runs here. What is held is what surrounds it, and how its program is called.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from scaar.core.errors import CapabilityMissing, DataCorrupt, NotFound, ScaarError
from scaar.scorer.triton_repository.engine import EngineJob, Precision, Profile, build_engine
from scaar.scorer.triton_repository.export import export_scorer
from scaar.scorer.triton_repository.golden import GoldenPair
from scaar.scorer.triton_repository.model_config import Backend
from scaar.scorer.triton_repository.trtexec import TrtexecBuilder, build_flags
from scaar.testing.commands import run_scaar


@dataclass
class FakeBuilder:
    """A builder that writes a text as engine, and returns the golden logits plus ``drift``."""

    version: tuple[int, ...] = (10, 3, 0)
    capability: str = "8.6"
    drift: float = 0.0
    fails: bool = False
    jobs: list[EngineJob] = field(default_factory=list)

    def tensorrt_version(self):
        return self.version

    def compute_capability(self):
        return self.capability

    def build(self, job, plan):
        self.jobs.append(job)
        plan.write_text("half an engine")
        if self.fails:
            raise ScaarError("no memory")
        plan.write_text(f"engine {job.precision} {self.version} {self.capability}")

    def logits(self, job, plan, pairs):
        assert plan.read_text().startswith("engine")
        return [pair.logit + self.drift for pair in pairs]


@pytest.fixture
def repository(cross_encoder_folder, tmp_path):
    to = tmp_path / "repository"
    export_scorer(cross_encoder_folder, to, backend=Backend.TENSORRT, max_batch_size=8)
    return to


def built(repository, builder, **given):
    return build_engine(repository, builder, cache=repository.parent / "engines", **given)


def test_an_engine_is_built_checked_and_copied_to_its_place(repository):
    builder = FakeBuilder()
    engine = built(repository, builder)
    assert engine.built
    assert engine.path == repository / "contribution_scorer" / "1" / "model_sm86.plan"
    assert engine.path.read_text() == "engine onnx (10, 3, 0) 8.6"
    (job,) = builder.jobs
    assert job.profiles == (Profile(64, 8), Profile(96, 8))
    assert job.inputs == ("input_ids", "attention_mask", "token_type_ids")


def test_an_engine_is_built_once(repository):
    builder = FakeBuilder()
    first = built(repository, builder)
    first.path.unlink()
    again = built(repository, builder)
    assert not again.built
    assert (again.key, again.path.read_text()) == (first.key, "engine onnx (10, 3, 0) 8.6")
    assert len(builder.jobs) == 1


def test_each_model_tensorrt_gpu_and_precision_has_its_own_engine(repository):
    found = [
        built(repository, FakeBuilder()),
        built(repository, FakeBuilder(version=(10, 4, 0))),
        built(repository, FakeBuilder(capability="9.0")),
        built(repository, FakeBuilder(), precision=Precision.BF16),
    ]
    with (repository / "contribution_scorer" / "model.onnx").open("ab") as file:
        file.write(b"x")
    found.append(built(repository, FakeBuilder()))
    assert all(each.built for each in found)
    assert len({each.key for each in found}) == 5


def test_concurrent_builds_of_the_same_engine_build_once(repository):
    both = threading.Barrier(3)

    def one(builder):
        both.wait()
        return built(repository, builder)

    builders = [FakeBuilder() for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        engines = list(pool.map(one, builders))
    assert sum(len(each.jobs) for each in builders) == 1
    assert [each.built for each in engines].count(True) == 1
    assert {each.path.read_text() for each in engines} == {"engine onnx (10, 3, 0) 8.6"}


@pytest.mark.parametrize("drift", [0.5, -0.5, float("nan"), float("inf")])
def test_an_engine_with_other_numbers_is_dropped(repository, drift):
    with pytest.raises(DataCorrupt, match="golden pair"):
        built(repository, FakeBuilder(drift=drift))
    assert list(repository.rglob("*.plan")) == []
    assert list((repository.parent / "engines").glob("*.plan")) == []
    assert built(repository, FakeBuilder(drift=0.001)).built


def test_a_build_that_fails_leaves_no_engine(repository):
    with pytest.raises(ScaarError, match="no memory"):
        built(repository, FakeBuilder(fails=True))
    assert list(repository.parent.rglob("*.plan")) == []
    assert built(repository, FakeBuilder()).built


@pytest.mark.parametrize(
    ("builder", "precision", "said"),
    [
        (FakeBuilder(version=(8, 6, 1)), Precision.ONNX, "must be 10 or newer, not 8.6.1"),
        (FakeBuilder(version=(11, 0, 0)), Precision.BF16, "uses the precision of the ONNX file"),
        (FakeBuilder(capability="6.1"), Precision.ONNX, "must be one of 7.5, 8.0"),
    ],
)
def test_an_unsupported_machine_is_reported_before_any_work(repository, builder, precision, said):
    with pytest.raises(CapabilityMissing, match=said):
        built(repository, builder, precision=precision)
    assert builder.jobs == []


def test_a_repository_for_another_back_end_is_refused(cross_encoder_folder, tmp_path):
    export_scorer(cross_encoder_folder, tmp_path / "r", backend=Backend.ONNX)
    with pytest.raises(NotFound, match="--backend tensorrt"):
        built(tmp_path / "r", FakeBuilder())


# --- trtexec ----------------------------------------------------------------------------------

PROFILES = (Profile(64, 8), Profile(128, 8))


@pytest.mark.parametrize(
    ("major", "precision", "expected"),
    [
        (10, Precision.ONNX, {"--stronglyTyped"}),
        (10, Precision.BF16, {"--bf16"}),
        (10, Precision.FP16, {"--fp16"}),
        (11, Precision.ONNX, set()),
    ],
)
def test_trtexec_gets_profiles_and_the_precision_that_its_version_supports(
    tmp_path, major, precision, expected
):
    inputs = ("input_ids", "attention_mask")
    job = EngineJob(tmp_path / "model.onnx", inputs, PROFILES, precision, padding=1)
    flags = build_flags(job, tmp_path / "model.plan", major=major)
    assert {"--stronglyTyped", "--bf16", "--fp16"}.intersection(flags) == expected
    assert flags[flags.index("--profile=1") :] == [
        "--profile=1",
        "--minShapes=input_ids:1x128,attention_mask:1x128",
        "--optShapes=input_ids:4x128,attention_mask:4x128",
        "--maxShapes=input_ids:8x128,attention_mask:8x128",
    ]


PROGRAM = """#!/bin/sh
case "$1" in
  --help) echo '&&&& RUNNING TensorRT.trtexec [TensorRT v101303] # trtexec --help';;
  --query*) printf '9.0\\n9.0\\n';;
  --onnx=*) echo 'first'; echo 'the file cannot be parsed'; exit 3;;
  *)
    for each in "$@"; do
      case "$each" in --exportOutput=*) output="${each#--exportOutput=}";; esac
      case "$each" in --shapes=*) echo "$each" >> "$0.log";; esac
      case "$each" in --loadInputs=*) echo "$each" >> "$0.log";; esac
      case "$each" in --useProfile=*) profile="${each#--useProfile=}";; esac
    done
    echo "[{\\"name\\": \\"logits\\", \\"values\\": [$profile.5]}]" > "$output";;
esac
"""


@pytest.fixture
def program(tmp_path):
    """Write a fake of trtexec and nvidia-smi, with their documented output."""
    path = tmp_path / "program"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path


def test_versions_and_capabilities_are_parsed_from_the_programs_output(program):
    builder = TrtexecBuilder(str(program), str(program))
    assert builder.tensorrt_version() == (10, 13, 3)
    assert builder.compute_capability() == "9.0"


def test_pairs_use_the_profile_of_their_width(program, tmp_path):
    job = EngineJob(tmp_path / "m", ("input_ids", "attention_mask"), PROFILES, Precision.ONNX, 1)
    long, short = (GoldenPair("a", "b", (5,) * n, (0,) * n, 0.0) for n in (65, 64))
    found = TrtexecBuilder(str(program)).logits(job, tmp_path / "plan", [long, short])
    assert found == [1.5, 0.5]
    log = (tmp_path / "program.log").read_text()
    assert "--shapes=input_ids:1x64,attention_mask:1x64" in log
    assert "--shapes=input_ids:1x128,attention_mask:1x128" in log


def test_a_failed_or_missing_program_is_reported_with_its_last_output(program, tmp_path):
    job = EngineJob(tmp_path / "m", ("input_ids",), PROFILES, Precision.ONNX, 1)
    with pytest.raises(ScaarError, match="status 3: first\nthe file cannot be parsed"):
        TrtexecBuilder(str(program)).build(job, tmp_path / "plan")
    with pytest.raises(CapabilityMissing, match="cannot be run"):
        TrtexecBuilder(str(tmp_path / "absent")).tensorrt_version()


def test_the_command_reports_a_missing_tensorrt(repository, tmp_path):
    absent = str(tmp_path / "trtexec")
    ran = run_scaar("models", "build-engine", str(repository), "--trtexec", absent)
    assert ran.status == 1
    assert f"{absent} cannot be run" in ran.err
