"""Limits of the control groups of this process, versions 1 and 2."""

from collections.abc import Iterator
from pathlib import Path

_UNLIMITED = 1 << 60
_ROOT = Path("/sys/fs/cgroup")


def cpu_quota(root: Path = _ROOT, membership: Path = Path("/proc/self/cgroup")) -> float | None:
    """Return the number of CPUs that the quota permits; None without a quota."""
    found = []
    for folder in _groups(root, membership, "cpu"):
        quota, _, period = _read(folder / "cpu.max").partition(" ")
        if not quota:
            quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
        if quota.isdecimal() and period.isdecimal() and int(period):
            found.append(int(quota) / int(period))
    return min(found, default=None)


def free_memory(root: Path = _ROOT, membership: Path = Path("/proc/self/cgroup")) -> int | None:
    """Return the bytes that the groups leave, counting cached files as free; None without limit."""
    found = []
    for folder in _groups(root, membership, "memory"):
        for limit_file, used_file, prefix in (
            ("memory.max", "memory.current", ""),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
        ):
            limit, used = _read(folder / limit_file), _read(folder / used_file)
            if limit.isdecimal() and used.isdecimal() and int(limit) < _UNLIMITED:
                statistics = dict(
                    line.split(" ", 1) for line in _read(folder / "memory.stat").splitlines()
                )
                # A model that was read twice is active, and is still a cached file.
                lists = (f"{prefix}inactive_file", f"{prefix}active_file")
                cache = sum(int(statistics.get(each, "0")) for each in lists)
                found.append(max(0, int(limit) - int(used) + cache))
    return min(found, default=None)


def _groups(root: Path, membership: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the process's group and of those above it."""
    for line in _read(membership).splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        base = root / controllers if controllers else root
        base = base if base.is_dir() else root / controller
        # A container sees its own group as the root, whatever the path says.
        parts = Path(group.lstrip("/"))
        yield from dict.fromkeys((base / parts, *(base / parent for parent in parts.parents), base))


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeError):
        return ""
