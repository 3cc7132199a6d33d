"""The gate of SKR: the vote of the nearest labelled questions, and its file."""

import asyncio
import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import CapabilityMissing, DataCorrupt
from scaar.core.gates import GATES, read_gate
from scaar.core.gates.skr import QuestionVectors, SkrGate, vote_threshold
from scaar.core.gates.skr_json import skr_to_json
from scaar.testing.gate_model import NO_MODEL

VECTORS = QuestionVectors("minilm", "r1", 2, struct.pack("<6f", 1, 0, 0, 1, -1, 0))
GATE = SkrGate("", (True, False, True), 7, neighbours=3, vectors=VECTORS)


class First:
    """The first questions are the nearest."""

    async def nearest(self, question: str, count: int) -> Sequence[int]:
        return range(count)


def votes(helped: int, harmed: int, *, among: tuple[int, int, int]) -> bool:
    """Return whether neighbours vote for retrieval; ``among`` are the labels of all questions."""
    neighbours = helped + harmed
    return helped / neighbours >= vote_threshold(*among, neighbours=neighbours)


@pytest.mark.parametrize(
    ("helped", "harmed", "retrieves"), [(5, 0, True), (3, 2, True), (2, 3, False), (0, 5, False)]
)
def test_the_more_frequent_label_needs_a_majority_of_the_neighbours(
    helped: int, harmed: int, retrieves: bool
) -> None:
    # The counts of the authors' data: 47 helped, 62 harmed, 740 unchanged; the margin is 0.
    assert votes(helped, harmed, among=(47, 62, 740)) is retrieves
    assert votes(helped, harmed, among=(62, 47, 740)) is retrieves


def test_a_tie_goes_to_the_less_frequent_label() -> None:
    assert votes(3, 3, among=(47, 62, 740))
    assert not votes(3, 3, among=(62, 47, 740))


def test_the_more_frequent_label_must_lead_by_its_margin() -> None:
    # int(60 * 10 / 100) = 6: a lead of 6 of 10 neighbours.
    assert votes(8, 2, among=(70, 10, 20))
    assert not votes(7, 3, among=(70, 10, 20))
    assert not votes(2, 8, among=(10, 70, 20))
    assert votes(3, 7, among=(10, 70, 20))


def test_a_judgement_is_the_share_of_the_neighbours_that_retrieval_helped() -> None:
    judged = asyncio.run(replace(GATE, nearest=First()).judge("Who?", NO_MODEL))
    assert judged.probability == pytest.approx(2 / 3)
    assert judged.features == {"share_helped": judged.probability}
    assert judged.policy is None
    # One of three is harmed, and 7 more are unchanged: the margin is int(1 * 3 / 10) = 0.
    assert GATE.threshold == pytest.approx(4 / 6)


def test_without_an_encoder_a_question_is_refused() -> None:
    with pytest.raises(CapabilityMissing, match="the gate skr needs its sentence encoder"):
        asyncio.run(GATE.judge("Who?", NO_MODEL))


def test_a_file_brings_the_gate_back_under_its_name() -> None:
    content = skr_to_json(GATE, learned_from={"questions": 10})
    found = read_gate(content, "gate.json")
    assert found == replace(GATE, revision=found.revision)
    assert len(found.revision) == 12
    assert "skr" in GATES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"helped": [1, 0, 1]}, "helped must be a list of true and false"),
        ({"neighbours": 4}, "helped must have at least neighbours values, 4, not 3"),
        ({"neighbours": 1.5}, "neighbours must be a whole number of at least 1, not 1.5"),
        ({"unchanged": -1}, "unchanged must be a whole number of at least 0, not -1"),
        ({"vectors": {}}, "vectors: has no width"),
        (
            {"vectors": {"width": 3, "float32": base64.b64encode(VECTORS.data).decode()}},
            "vectors: float32 must have 3 vectors of 3 numbers, not 24 bytes",
        ),
        ({"vectors": {"width": 2, "float32": "?"}}, "vectors: float32 is not base64"),
    ],
)
def test_a_wrong_file_is_refused_by_its_field(change: dict[str, object], message: str) -> None:
    document = json.loads(skr_to_json(GATE, learned_from={})) | change
    with pytest.raises(DataCorrupt, match=message):
        read_gate(json.dumps(document).encode(), "gate.json")
