"""Nothing that a model writes fails an answer: lists, tables, code, other languages, nothing."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaar.core.types import AnswerFinished, SentenceAccepted, SentenceJudged
from scaar.testing.fakes import ScriptedScorer

from .replay import (
    ODD_TEXTS,
    POLICIES,
    RecordedText,
    failures,
    of_every_kind,
    open_lab_scorer,
    recorded_texts,
    replay,
)

TEXTS = recorded_texts()


def test_the_texts_are_500_of_three_models() -> None:
    assert len(TEXTS) == 500
    assert {each.name.split()[0] for each in TEXTS} == {
        "smollm2-135m-instruct",
        "qwen2.5-coder-0.5b-instruct",
        "qwen2.5-coder-1.5b-instruct",
    }


@pytest.mark.parametrize("policy", POLICIES)
async def test_no_text_of_any_kind_fails_an_answer(policy: str) -> None:
    scorer = ScriptedScorer(lambda request: [0.1] * len(request.words))
    assert await failures([*TEXTS[::25], *of_every_kind(TEXTS), *ODD_TEXTS], policy, scorer) == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES)
async def test_no_recorded_text_fails_an_answer_with_the_scorer_of_the_lab(policy: str) -> None:
    async with open_lab_scorer() as scorer:
        assert await failures([*TEXTS, *ODD_TEXTS], policy, scorer) == []


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
async def test_no_text_of_any_kind_fails_with_the_scorer_of_the_lab(policy: str) -> None:
    async with open_lab_scorer() as scorer:
        assert await failures([*of_every_kind(TEXTS), *ODD_TEXTS], policy, scorer) == []


pieces = st.lists(
    st.tuples(
        st.text(st.characters(exclude_categories=()), max_size=12)
        | st.sampled_from([" ", "\n", "\n- ", "|", "```", ". ", "1. ", "A", " b", "漢"]),
        st.floats(-20.0, 0.0) | st.none(),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(pieces, st.sampled_from(POLICIES))
async def test_no_text_at_all_fails_an_answer(
    written: list[tuple[str, float | None]], policy: str
) -> None:
    scorer = ScriptedScorer(lambda request: [0.1] * len(request.words))
    assert await failures([RecordedText("any", tuple(written))], policy, scorer) == []


TABLE = "| Planet | Moons |\n|---|---|\n" + "".join(f"| P{at} | {at} |\n" for at in range(12))
CODE = "```python\n" + "".join(f"x{at} = {at}\n" for at in range(40)) + "```\n"
LIST = "".join(f"- reason {at} is about item {at}\n" for at in range(20))


@pytest.mark.parametrize("block", [TABLE, CODE, LIST], ids=["table", "code", "list"])
async def test_a_block_is_answered_whole_line_by_line(block: str) -> None:
    text = f"Here it is:\n\n{block}\nThat is all."
    pieces = re.findall(r"\s*\S+|\s+", text)
    written = RecordedText("block", tuple((piece, -0.01) for piece in pieces))
    events = await replay(written, "flare", ScriptedScorer({}))
    finished = events[-1]
    assert isinstance(finished, AnswerFinished)
    whole = "".join(each.text for each in finished.answer.sentences)
    assert whole.startswith(text)
    lines = [each.accepted.text.strip() for each in events if isinstance(each, SentenceAccepted)]
    assert lines[1:-2] == block.splitlines()


async def test_a_line_without_a_word_is_accepted_without_a_judgement() -> None:
    pieces = tuple((f"{line}\n", -3.0) for line in ("| A | B |", "|---|---|", "```", "..."))
    events = await replay(RecordedText("marks", pieces), "flare", ScriptedScorer({}))
    judged = [each.text.strip() for each in events if isinstance(each, SentenceJudged)]
    assert judged == ["| A | B |"]
