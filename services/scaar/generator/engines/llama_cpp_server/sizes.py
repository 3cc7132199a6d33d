"""How much memory and how many threads llama.cpp's server takes, and what this machine has."""

import os
from dataclasses import dataclass
from pathlib import Path

from scaar.core.plurals import counted
from scaar.generator.engines.llama_cpp_server.cgroups import cpu_quota, free_memory
from scaar.generator.gguf.model import GgufModel

DEFAULT_CONTEXT = 8192
"""Context of a slot in tokens, unless the model or the settings have less."""
BATCH = 256
"""Tokens that are read in one step. A cancelled call ends after the step, and on CPUs larger steps
read no faster."""
_BYTES_PER_VALUE = 2
_PROCESS_BYTES = 64 << 20
_BYTES_PER_TOKEN_OF_VOCABULARY = 1024
_BYTES_PER_ACTIVATION = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a server is started with."""

    slots: int
    """Slots that answers lease."""
    context: int
    """Tokens of each slot."""
    threads: int

    @property
    def server_slots(self) -> int:
        """Slots of the server: one more, for calls of no answer."""
        return self.slots + 1

    def __str__(self) -> str:
        return (
            f"{counted(self.slots, 'slot')} of {self.context:,} tokens, "
            f"{counted(self.threads, 'thread')}"
        )


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Memory of a server in bytes."""

    weights: int
    keys_and_values: int
    computation: int
    """The process, its vocabulary and the values of one step; an estimate from above."""

    @property
    def total(self) -> int:
        """Everything that the server needs."""
        return self.weights + self.keys_and_values + self.computation

    def __str__(self) -> str:
        return (
            f"{shown_bytes(self.total)} of memory ({shown_bytes(self.weights)} weights, "
            f"{shown_bytes(self.keys_and_values)} keys and values)"
        )


def sizes_of(model: GgufModel, *, slots: int, context: int | None, threads: int | None) -> Sizes:
    """Return the sizes of a server; None takes the default."""
    wanted = DEFAULT_CONTEXT if context is None else context
    length = min(wanted, model.context_length)
    return Sizes(slots, length, usable_cores() if threads is None else threads)


def memory_need(model: GgufModel, sizes: Sizes) -> MemoryNeed:
    """Return the memory that a server of the model needs."""
    tokens = sizes.server_slots * sizes.context
    activations = (model.embedding + model.feed_forward) * BATCH * _BYTES_PER_ACTIVATION
    vocabulary = model.vocabulary * _BYTES_PER_TOKEN_OF_VOCABULARY
    return MemoryNeed(
        weights=model.file_bytes,
        keys_and_values=model.cached_values * tokens * _BYTES_PER_VALUE,
        computation=_PROCESS_BYTES + vocabulary + activations,
    )


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return the bytes that this process can still use; None if the system does not tell.

    Memory of cached files counts, since the system frees it.
    """
    known = [free_memory(), _available_of_system(meminfo)]
    return min((free for free in known if free is not None), default=None)


def usable_cores(cpus: Path = Path("/sys/devices/system/cpu")) -> int:
    """Return the number of physical cores that affinity and CPU quota allow, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        allowed = os.sched_getaffinity(0)
    else:
        allowed = set(range(os.cpu_count() or 1))
    cores = {_siblings(cpus, number) for number in allowed}
    quota = cpu_quota()
    return max(1, len(cores) if quota is None else min(len(cores), int(quota)))


def shown_bytes(number: int) -> str:
    """Return a number of bytes as people read it, such as ``1.3 GB``."""
    return f"{number / 1e9:.1f} GB" if number >= 995_000_000 else f"{number / 1e6:.0f} MB"


def _siblings(cpus: Path, number: int) -> str:
    """Return the name of a CPU's core: the list of the CPUs that share it."""
    try:
        return (cpus / f"cpu{number}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return str(number)


def _available_of_system(meminfo: Path) -> int | None:
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return None
