"""Memory, threads and environment of llama.cpp's server."""

import os
from pathlib import Path

import pytest

from scaar.generator.engines.llama_cpp_server import sizes
from scaar.generator.engines.llama_cpp_server.cgroups import cpu_quota, free_memory
from scaar.generator.engines.llama_cpp_server.environment import environment_of
from scaar.generator.engines.llama_cpp_server.sizes import (
    available_memory,
    memory_need,
    shown_bytes,
    sizes_of,
    usable_cores,
)
from scaar.generator.gguf.model import GgufModel, read_model

from .gguf_files import write_gguf


@pytest.fixture
def model(tmp_path: Path) -> GgufModel:
    """A model with a context of 4,096 tokens."""
    return read_model(write_gguf(tmp_path / "f.gguf"))


def group(folder: Path, **files: str) -> Path:
    """Write the files of a control group."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")
    return folder


def membership(tmp_path: Path, *lines: str) -> Path:
    """Write the groups of a process."""
    path = tmp_path / "cgroup"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_slot_has_no_more_context_than_the_model(model: GgufModel) -> None:
    assert sizes_of(model, slots=1, context=None, threads=3) == sizes.Sizes(1, 4096, 3)
    assert sizes_of(model, slots=2, context=100_000, threads=3) == sizes.Sizes(2, 4096, 3)
    assert sizes_of(model, slots=2, context=1000, threads=3) == sizes.Sizes(2, 1000, 3)


def test_keys_and_values_of_every_slot_and_a_spare_one_are_needed(model: GgufModel) -> None:
    need = memory_need(model, sizes.Sizes(3, 1000, 1))
    assert need.weights == model.file_bytes
    assert need.keys_and_values == 4 * 1000 * model.cached_values * 2
    assert need.total > need.weights + need.keys_and_values


def test_amounts_are_shown_as_people_read_them() -> None:
    assert shown_bytes(98_362_432) == "98 MB"
    assert shown_bytes(1_117_320_768) == "1.1 GB"


def test_the_limit_of_a_container_is_read_in_both_versions(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    group(
        new / "pod",
        memory__max="1000",
        memory__current="700",
        memory__stat="inactive_file 50\nactive_file 150",
        cpu__max="150000 100000",
    )
    group(new, memory__max="max", memory__current="5", cpu__max="max 100000")
    assert free_memory(new, membership(tmp_path, "0::/pod")) == 500
    assert cpu_quota(new, membership(tmp_path, "0::/pod")) == 1.5
    group(
        old / "memory",
        memory__limit_in_bytes="1000",
        memory__usage_in_bytes="900",
        memory__stat="active_file 1\ntotal_inactive_file 30\ntotal_active_file 20",
    )
    group(old / "cpu", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    lines = membership(tmp_path, "4:memory:/docker/abc", "1:cpu:/")
    assert free_memory(old, lines) == 150
    assert cpu_quota(old, lines) is None


def test_the_group_with_the_least_left_limits(tmp_path: Path) -> None:
    group(tmp_path / "g", memory__max="1000", memory__current="100")
    group(tmp_path / "g" / "inner", memory__max="800", memory__current="700")
    assert free_memory(tmp_path, membership(tmp_path, "0::/g/inner")) == 100


def test_without_groups_the_memory_of_the_system_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert free_memory(tmp_path, tmp_path / "none") is None
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:    7 kB\n")
    monkeypatch.setattr(sizes, "free_memory", lambda: None)
    assert available_memory(meminfo) == 7 * 1024
    assert available_memory(tmp_path / "none") is None


@pytest.mark.parametrize(("quota", "cores"), [(None, 2), (1.9, 1), (0.5, 1), (8.0, 2)])
def test_threads_are_physical_cores_within_affinity_and_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: float | None, cores: int
) -> None:
    for number, siblings in enumerate(("0,2", "1,3", "0,2", "1,3", "4")):
        group(tmp_path / f"cpu{number}" / "topology", thread_siblings_list=siblings)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(sizes, "cpu_quota", lambda: quota)
    assert usable_cores(tmp_path) == cores


def test_the_environment_of_the_server_has_no_secrets() -> None:
    kept = {"PATH": "/bin", "LC_ALL": "C", "CUDA_VISIBLE_DEVICES": "0"}
    secret = {
        "SCAAR_GENERATOR_API_KEY": "k",
        "OPENAI_API_KEY": "k",
        "HF_TOKEN": "t",
        "CUDA_API_KEY": "k",
        "HTTPS_PROXY": "http://user:password@proxy",
        "AWS_SECRET_ACCESS_KEY": "s",
        "DATABASE_URL": "postgresql://user:password@host",
    }
    assert environment_of(kept | secret) == kept
