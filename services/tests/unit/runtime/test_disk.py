import errno
import os
from pathlib import Path

import pytest

from scaar.runtime.disk import is_disk_full, size_text, write_problem


def refused(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_500, "1.5 kB"),
        (2e6, "2.0 MB"),
        (3e9, "3.0 GB"),
        (4e12, "4.0 TB"),
    ],
)
def test_a_size_has_its_unit(size_bytes: float, text: str) -> None:
    assert size_text(size_bytes) == text


def test_a_full_disk_names_path_need_and_free_space(tmp_path: Path) -> None:
    path = tmp_path / "not" / "yet" / "there.jsonl"
    for number in (errno.ENOSPC, errno.EDQUOT):
        assert is_disk_full(refused(number))
        text = write_problem(path, refused(number), needed_bytes=2_000_000)
        assert text.startswith(f"{path} cannot be written: its disk is full (2.0 MB needed, ")
        assert text.endswith(" free); free space, or name a path on another disk")


def test_another_refusal_is_named_as_the_system_names_it(tmp_path: Path) -> None:
    assert not is_disk_full(refused(errno.EACCES))
    assert not is_disk_full(ValueError("x"))
    problem = write_problem(tmp_path, refused(errno.EACCES))
    assert problem == f"{tmp_path} cannot be written: Permission denied"
