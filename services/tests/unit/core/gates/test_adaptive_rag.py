import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt
from scaar.core.gates import read_gate
from scaar.core.gates.adaptive_rag import (
    AdaptiveRag,
    Sufficiency,
    adaptive_rag_to_json,
    question_features,
)
from scaar.testing.gate_model import NO_MODEL

ROUTER = AdaptiveRag(
    "lm",
    "",
    ("no_retrieval", "single_round", "ircot"),
    (
        Sufficiency(1.0, {"words": -0.5, "word spouse": -2.0}),
        Sufficiency(0.5, {"capitalised": 0.25, "word spouse": -3.0}),
    ),
)
CONTENT = adaptive_rag_to_json(ROUTER, learned_from={"measure": "exact_match"})


def likely(value: float) -> float:
    return 1 / (1 + math.exp(-value))


async def test_the_shares_are_those_worked_by_hand_and_the_largest_answers() -> None:
    judged = await ROUTER.judge("Who is the spouse of Ada?", NO_MODEL)
    first = likely(1.0 - 0.5 * 6 - 2.0)
    second = (1 - first) * likely(0.5 + 0.25 - 3.0)
    assert judged.features == {
        "no_retrieval": pytest.approx(first),
        "single_round": pytest.approx(second),
        "ircot": pytest.approx(1 - first - second),
    }
    assert judged.policy == "ircot"
    assert judged.probability == pytest.approx(1 - first)
    assert (await ROUTER.judge("Ada?", NO_MODEL)).policy == "no_retrieval"


def test_the_features_are_counts_and_the_words_in_lower_case() -> None:
    assert question_features("Was Ada born before the Film of 1999?") == {
        "words": 8,
        "capitalised": 2,
        "numbers": 1,
        **{
            f"word {each}": 1.0
            for each in ("was", "ada", "born", "before", "the", "film", "of", "1999")
        },
    }


@given(st.text(max_size=200))
def test_any_question_has_shares_that_add_up_to_one(question: str) -> None:
    shares = ROUTER.shares(question)
    assert tuple(shares) == ROUTER.policies
    assert min(shares.values()) >= 0
    assert sum(shares.values()) == pytest.approx(1)


def test_a_file_gives_the_router_back_and_its_revision_is_of_its_content() -> None:
    read = read_gate(CONTENT, "gate.json")
    assert read == AdaptiveRag("lm", read.revision, ROUTER.policies, ROUTER.sufficiencies)
    assert len(read.revision) == 12
    assert (read.name, read.threshold, read.needs_draft) == ("adaptive_rag", None, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": "ircot"}, "policies must be a list, not 'ircot'"),
        ({"policies": ["ircot", 3]}, "policies must have strings only"),
        ({"policies": ["ircot"]}, "policies must be at least two, each named once"),
        ({"policies": ["ircot", "ircot", "flare"]}, "policies must be at least two, each named"),
        ({"sufficiencies": []}, "sufficiencies must be one fewer than the policies, not 0"),
        ({"sufficiencies": [{}, {}]}, r"sufficiencies\[0\]: has no weights"),
        ({"sufficiencies": [1, 2]}, r"sufficiencies\[0\]: must be a JSON object"),
        (
            {"sufficiencies": [{"bias": 0, "weights": {"words": "many"}}] * 2},
            r"sufficiencies\[0\], weights: words must be a number, not 'many'",
        ),
    ],
)
def test_an_invalid_router_file_is_refused_with_the_wrong_field(
    change: dict[str, object], message: str
) -> None:
    document = json.loads(CONTENT) | change
    with pytest.raises(DataCorrupt, match=message):
        read_gate(json.dumps(document).encode(), "gate.json")
