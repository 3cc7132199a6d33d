"""``scaar ask --file`` where the answers do not fit."""

import errno
import json
import os
from pathlib import Path
from typing import Any, cast

import pytest

from scaar.cli.ask.file import ask_file
from scaar.core.errors import ScaarError
from scaar.core.types import AnswerRequest


class FullFile:
    """A file on a disk with room for a few bytes."""

    name = "answers.jsonl"

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, content: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = min(self.room, len(content))
        self.room -= written
        return written


async def test_a_full_disk_ends_the_run_with_path_and_need() -> None:
    from scaar.cli.ask.file import _AnswersFile

    store = _AnswersFile(cast(Any, FullFile(room=5)))
    record = {"id": "1", "error": {}}
    needed = len(json.dumps(record)) + 1
    with pytest.raises(ScaarError) as caught:
        await store.add([record])
    text = f"answers.jsonl cannot be written: its disk is full ({needed} B needed, "
    assert str(caught.value).startswith(text)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"question": "Who?"}\n')
    out = tmp_path / "missing" / "answers.jsonl"
    with pytest.raises(ScaarError, match="answers.jsonl cannot be written: No such file"):
        ask_file(AnswerRequest("?"), questions, out, concurrency=1, target="dns:///127.0.0.1:1")
