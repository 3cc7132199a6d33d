"""The tokens of accepted text: their texts are the text, their log-probabilities the model's."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import CapabilityMissing
from scaar.core.loop.accepted_tokens import accepted_tokens
from scaar.core.types import (
    AcceptedToken,
    AnswerRequest,
    BudgetLimits,
    Capability,
    PolicyRequest,
    SentenceAccepted,
    Token,
    Truncation,
)
from scaar.testing.fakes import SCRIPTED_MODEL, ScriptedGenerator

from .reflecting import RETRIEVES, reflecting
from .scripted import (
    AGAIN,
    ASKING,
    BORN_IN_PARIS,
    DRAFTS,
    UNSURE_OF_PARIS,
    Parts,
    answer_in,
    asking,
    model,
    only,
    parts,
)
from .test_model_asks import asks, requesting


async def tokens_of(made: Parts, request: AnswerRequest) -> list[tuple[AcceptedToken, ...]]:
    """Return the tokens of each sentence, which its event and the answer have."""
    events = await made.events(replace(request, logprobs=True))
    accepted = [each.accepted for each in only(SentenceAccepted, events)]
    assert answer_in(events).sentences == tuple(accepted)
    assert [joined(each.tokens) for each in accepted] == [each.text for each in accepted]
    return [each.tokens for each in accepted]


def joined(tokens: Sequence[AcceptedToken]) -> str:
    return "".join(each.text for each in tokens)


@given(
    pieces=st.lists(st.tuples(st.text(max_size=4), st.booleans()), max_size=12),
    cut=st.tuples(st.integers(0, 8), st.integers(0, 8)),
)
def test_the_texts_of_the_tokens_are_the_text(
    pieces: list[tuple[str, bool]], cut: tuple[int, int]
) -> None:
    whole = "".join(text for text, _ in pieces)
    start = min(cut[0], len(whole))
    text = whole[start : max(start, len(whole) - cut[1])]
    tokens, at = [], -start
    for piece, written in pieces:
        if written and at + len(piece) > 0:
            tokens.append(Token(1, piece, at, at + len(piece), -0.5))
        at += len(piece)
    found = accepted_tokens(text, tokens)
    assert joined(found) == text
    assert sum(each.logprob is not None for each in found) <= len(tokens)


def test_a_token_within_a_character_is_empty_and_text_between_tokens_is_not_the_models() -> None:
    tokens = [
        Token(1, "", 0, 0, -0.1),
        Token(2, "é", 0, 1, -0.2),
        Token(3, " ended", 4, 10, -0.3),
    ]
    assert accepted_tokens("é so ends", tokens) == (
        AcceptedToken("", -0.1),
        AcceptedToken("é", -0.2),
        AcceptedToken(" so"),
        AcceptedToken(" ends", -0.3),
    )


async def test_a_draft_and_a_rewritten_sentence_have_the_tokens_that_were_accepted() -> None:
    first, last = await tokens_of(parts(UNSURE_OF_PARIS), asking())
    assert [each.text for each in first] == [" Ada", " was", " born", " in", " London."]
    assert {each.logprob for each in (*first, *last)} == {-0.01}
    first, _ = await tokens_of(parts(model(doubts=["born"])), asking("no_retrieval"))
    assert joined(first) == BORN_IN_PARIS
    assert [each.logprob for each in first] == [-0.01, -0.01, -2.0, -0.01, -0.01]


@pytest.mark.parametrize("policy", ["fixed_sentence", "ircot", "flare", "iter_retgen"])
async def test_every_policy_reports_the_tokens_of_its_sentences(policy: str) -> None:
    made = parts(model(DRAFTS, {**DRAFTS, **AGAIN}, doubts=["Paris."]))
    for tokens in await tokens_of(made, asking(policy)):
        assert all(each.logprob is not None for each in tokens)


async def test_a_kept_prefix_and_its_continuation_are_one_sentence() -> None:
    again = {" Ada was born in": " London. So the answer is London."}
    made = parts(model(again=again, doubts=["Paris."]))
    first, _ = await tokens_of(made, asking("flare", truncate=Truncation.TOKEN))
    assert [each.text for each in first] == [" Ada", " was", " born", " in", " London."]


async def test_a_forced_answer_phrase_has_no_log_probability() -> None:
    drafts = {"": " Ada was born.", " Ada was born. So the answer is": " Paris."}
    request = asking("no_retrieval", budget=BudgetLimits(max_sentences=1))
    _, forced = await tokens_of(parts(model(drafts)), request)
    assert forced == (AcceptedToken(" So the answer is"), AcceptedToken(" Paris.", -0.01))


async def test_an_answer_between_tags_has_the_tokens_within_them() -> None:
    (tokens,) = await tokens_of(parts(ASKING), asking("model_asks"))
    assert tokens == (AcceptedToken("London", -0.01),)
    (tokens,) = await tokens_of(
        asks(*[requesting("Ada")] * 20, forced=" Paris, France", size=3), asking("model_asks")
    )
    assert joined(tokens) == "Paris, France"
    assert {each.logprob for each in tokens} == {-0.1}
    (tokens,) = await tokens_of(asks("<answer> London </answer>", size=5), asking("model_asks"))
    assert joined(tokens) == "London"


async def test_reflection_tokens_are_left_out() -> None:
    first, last = await tokens_of(reflecting(RETRIEVES), asking("self_rag"))
    assert [each.text for each in first] == [" Ada", " was", " born", " in", " London."]
    assert {each.logprob for each in (*first, *last)} == {-0.1}


async def test_no_request_has_tokens_unless_it_names_them() -> None:
    answer = answer_in(await parts(UNSURE_OF_PARIS).events(asking()))
    assert {each.tokens for each in answer.sentences} == {()}


async def test_a_model_without_log_probabilities_is_rejected_before_it_writes() -> None:
    bare = replace(SCRIPTED_MODEL, capabilities=SCRIPTED_MODEL.capabilities - {Capability.LOGPROBS})
    made = Parts(ScriptedGenerator(UNSURE_OF_PARIS, model=bare))
    request = AnswerRequest("Where was Ada born?", PolicyRequest("no_retrieval"), logprobs=True)
    with pytest.raises(CapabilityMissing, match="^logprobs: model .* gives no log-prob") as raised:
        await made.events(request)
    assert raised.value.metadata["field"] == "logprobs"
    assert made.generator.opened == 0
