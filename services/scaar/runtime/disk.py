"""Errors of full disks: the path, the free space and the space that is needed."""

import errno
import shutil
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether the operating system refused to write for lack of space or quota."""
    return isinstance(error, OSError) and error.errno in _FULL


def write_problem(path: Path, error: OSError, *, needed_bytes: int | None = None) -> str:
    """Describe why a path cannot be written; of a full disk, what is free and what is needed.

    ``needed_bytes`` is the size of the write that failed.
    """
    if not is_disk_full(error):
        return f"{path} cannot be written: {error.strerror or error}"
    needed = "" if needed_bytes is None else f"{size_text(needed_bytes)} needed, "
    return (
        f"{path} cannot be written: its disk is full ({needed}{_free(path)}); free space, or "
        "name a path on another disk"
    )


def size_text(size_bytes: float) -> str:
    """Return a number of bytes with its unit: ``512 B``, ``1.5 kB``, ``2.0 MB``."""
    if size_bytes < 1_000:
        return f"{size_bytes:.0f} B"
    for unit in ("kB", "MB", "GB"):
        size_bytes /= 1_000
        if size_bytes < 1_000:
            return f"{size_bytes:.1f} {unit}"
    return f"{size_bytes / 1_000:.1f} TB"


def _free(path: Path) -> str:
    """The free space on the disk of a path that may not exist yet."""
    for folder in (path, *path.absolute().parents):
        try:
            return f"{size_text(shutil.disk_usage(folder).free)} free"
        except OSError:
            continue
    return "free space unknown"
