"""Files that are written atomically, through links and into pipes."""

import os
import stat
import threading
from pathlib import Path

import pytest

from scaar.core.errors import ScaarError
from scaar.evaluator.store.files import write_whole


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_is_kept_and_its_target_is_written(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "real.csv", tmp_path / "link.csv"
    if exists:
        target.write_bytes(b"old")
    link.symlink_to("folder/real.csv")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert [each.name for each in target.parent.iterdir()] == ["real.csv"]


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    # Holds the pipe open, so that the writer does not wait for a reader.
    held = os.open(pipe, os.O_RDWR)
    try:
        reader = threading.Thread(target=lambda: read.append(os.read(held, 100)), daemon=True)
        reader.start()
        write_whole(pipe, b"rows")
        assert stat.S_ISFIFO(pipe.lstat().st_mode)
        reader.join(timeout=10)
    finally:
        os.close(held)
    assert read == [b"rows"]
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


def test_a_device_that_cannot_be_written_is_reported_and_not_replaced(tmp_path: Path) -> None:
    # A link, so that the device itself is safe if the link is replaced.
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    with pytest.raises(ScaarError, match="full cannot be written: its disk is full"):
        write_whole(link, b"rows")
    assert link.is_symlink()


def test_a_folder_is_reported_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ScaarError, match="out cannot be written: Is a directory"):
        write_whole(tmp_path / "out", b"rows")
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
