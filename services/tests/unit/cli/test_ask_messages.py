"""The file of a conversation on the command line."""

import io
import json
import sys
from pathlib import Path

import pytest

from scaar.cli.ask.messages import read_messages
from scaar.core.errors import InvalidRequest
from scaar.core.types import Message, MessageRole

TALK = [
    {"role": "user", "content": "Who directed it?"},
    {"role": "assistant", "content": "Ada."},
    {"role": "user", "content": "And when?"},
]


def test_a_file_has_the_messages_in_order(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK))
    first, *_, last = read_messages(path)
    assert first == Message(MessageRole.USER, "Who directed it?")
    assert last.content == "And when?"


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(TALK).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert len(read_messages(Path("-"))) == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "must be a list of messages"),
        ('{"role": "user"}', "must be a list of messages"),
        ('[{"role": "king", "content": "x"}]', "messages[0]"),
        ('[{"role": "user"}]', "messages[0]"),
    ],
)
def test_a_file_of_something_else_is_rejected(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "talk.json"
    path.write_text(text)
    with pytest.raises(InvalidRequest) as rejected:
        read_messages(path)
    assert reason in str(rejected.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"cannot read .*none\.json"):
        read_messages(tmp_path / "none.json")
