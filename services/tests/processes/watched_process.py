"""A server watched from outside while it is sent something: its health, its CPU, its memory."""

import os
import threading
import time
from pathlib import Path
from types import TracebackType

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_PAUSE_S = 0.01
_TIMEOUT_S = 60.0


class HealthWatch:
    """Asks a server for its health all the time, from a thread and over a connection of its own."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._longest_s = 0.0
        self._began = self._ended = 0

    def __enter__(self) -> "HealthWatch":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def longest_s(self) -> float:
        """Return the longest wait for an answer since the last call, that of the last check too."""
        last = self._began + 1
        while self._ended < last and self._thread.is_alive():
            time.sleep(_PAUSE_S)
        longest, self._longest_s = self._longest_s, 0.0
        return longest

    def _run(self) -> None:
        options = (("grpc.use_local_subchannel_pool", 1),)
        with grpc.insecure_channel(self._target, options=options) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            while not self._stop.is_set():
                self._began += 1
                began = time.perf_counter()
                stub.Check(health_pb2.HealthCheckRequest(), timeout=_TIMEOUT_S)
                self._longest_s = max(self._longest_s, time.perf_counter() - began)
                self._ended += 1
                time.sleep(_PAUSE_S)


class ProcessWatch:
    """The CPU time and the growth of the resident memory of a process."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")
        self._rss_mib = self._cpu_before_s = 0.0

    def start(self) -> None:
        """Begin to count, and to watch for the peak."""
        (self._folder / "clear_refs").write_text("5")
        self._rss_mib = self._status("VmRSS")
        self._cpu_before_s = self._cpu_s()

    def cpu_s(self) -> float:
        """Return the CPU seconds that the process used since the start."""
        return self._cpu_s() - self._cpu_before_s

    def growth_mib(self) -> float:
        """Return how far the peak since the start was above the memory at the start."""
        return self._status("VmHWM") - self._rss_mib

    def _cpu_s(self) -> float:
        *_, fields = (self._folder / "stat").read_text().rpartition(")")
        return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def _status(self, name: str) -> float:
        for line in (self._folder / "status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) / 1024
        raise AssertionError(f"no {name} in /proc")
