import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt
from scaar.core.gates.proxy import Evidence, GateProxy, logistic, mean_probability
from scaar.core.gates.proxy_json import proxy_from_json, proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.types import Token

WORDS = WordStatistics("a list", {"who": 0.5, "is": 0.25}, 0.01)
PROXY = GateProxy("lm", "", WORDS, bias=1.0, weights=(-0.5, -0.25, -2.0), threshold=0.4)


def test_the_probability_is_the_one_worked_by_hand() -> None:
    tokens = [Token(1, " Ada", 0, 4, math.log(0.5)), Token(2, ".", 4, 5, None)]
    evidence = PROXY.evidence("Who is Ada?", tokens)
    assert evidence == Evidence(pytest.approx(0.76 / 3), 0.01, 0.25)
    value = 1 - 0.5 * math.log(0.76 / 3) - 0.25 * math.log(0.01) - 2 * 0.25
    assert PROXY.probability(evidence) == pytest.approx(1 / (1 + math.exp(-value)))
    assert mean_probability([]) == 0.0


@given(st.floats(-1e6, 1e6))
def test_the_logistic_function_is_a_probability_and_turns_about_its_middle(value: float) -> None:
    assert 0 <= logistic(value) <= 1
    assert logistic(value) + logistic(-value) == pytest.approx(1)


def test_a_file_brings_the_proxy_back_and_its_revision_is_of_its_content() -> None:
    content = proxy_to_json(PROXY, learned_from={"data set": "lab"})
    read = proxy_from_json(content, "gate.json")
    assert len(read.revision) == 12
    assert proxy_from_json(content + b" ", "gate.json").revision != read.revision
    assert read == GateProxy("lm", read.revision, WORDS, 1.0, (-0.5, -0.25, -2.0), 0.4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 7}, "is of format 7; this scaar reads 1"),
        ({"threshold": 0}, r"threshold must be in \(0, 1\], not 0"),
        ({"bias": "much"}, "bias must be a number, not 'much'"),
        ({"weights": {"confidence": 1}}, "weights: has no average_frequency"),
        ({"words": None}, "words: must be a JSON object"),
        ({"model": 3}, "model must be a string, not 3"),
    ],
)
def test_an_invalid_proxy_file_is_refused_with_the_wrong_field(
    change: dict[str, object], message: str
) -> None:
    document = json.loads(proxy_to_json(PROXY, learned_from={})) | change
    with pytest.raises(DataCorrupt, match=message):
        proxy_from_json(json.dumps(document).encode(), "gate.json")


def test_a_file_without_json_is_refused() -> None:
    with pytest.raises(DataCorrupt, match="gate.json: is not JSON"):
        proxy_from_json(b"{", "gate.json")
