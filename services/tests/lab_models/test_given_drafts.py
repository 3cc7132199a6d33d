"""A draft that the model wrote is judged as it was when the model wrote it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from scaar.client import BudgetLimits, CapabilityMissing, Client, SentenceAccepted, SentenceJudged
from scaar.embedded import open_client, open_sync_client
from scaar.lab.questions import Question, draw_questions
from scaar.lab.world import World
from scaar.lab_servers.openai import open_openai_server
from scaar.lab_servers.tgi import open_tgi_server

POLICIES = (
    "scaar",
    "flare",
    "perplexity",
    "mean_entropy",
    "dragin",
    "etc",
    "etc_reference",
    "tuned-1.4",
)
UNLIMITED = BudgetLimits(max_retrievals=0)
"""Without a retrieval, every sentence of an answer is judged."""


@pytest.fixture(scope="session")
def questions(world: World, tail_questions: list[Question]) -> list[str]:
    """Questions about films that the model knows and that it does not know."""
    known = draw_questions(world, count=8, split="head")
    return [each.question for each in (*tail_questions[:4], *known)]


async def drafted(
    scaar: Client, question: str, policy: str, budget: BudgetLimits
) -> tuple[list[SentenceJudged], str]:
    """Return the judgements of an answer, and its text."""
    judged, text = list[SentenceJudged](), ""
    async with scaar.stream_answer(question, policy=policy, budget=budget) as events:
        async for event in events:
            match event:
                case SentenceJudged():
                    judged.append(event)
                case SentenceAccepted():
                    text += event.accepted.text
    return judged, text


def assert_same(found: Sequence[SentenceJudged], expected: Sequence[SentenceJudged]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert dict(one.signals) == pytest.approx(dict(other.signals), abs=1e-4)
        for word, same in zip(one.words, other.words, strict=True):
            for name in ("probability", "threshold", "contribution", "entropy", "attention"):
                assert getattr(word, name) == pytest.approx(getattr(same, name), abs=1e-4)
            assert (word.text, word.uncertain) == (same.text, same.uncertain)
        assert replace(one, words=(), score=None, signals={}) == replace(
            other, words=(), score=None, signals={}
        )


@pytest.mark.parametrize("policy", POLICIES)
async def test_every_sentence_of_an_answer_is_judged_as_it_was(
    questions: list[str], policy: str
) -> None:
    sentences = 0
    async with open_client() as scaar:
        for question in questions:
            expected, text = await drafted(scaar, question, policy, UNLIMITED)
            found = await scaar.judge_draft(question, draft=text, policy=policy, budget=UNLIMITED)
            assert_same(found.sentences, expected)
            sentences += len(expected)
            # The space before the text is that of the model.
            stripped = await scaar.judge_draft(
                question, draft=text.strip(), policy=policy, budget=UNLIMITED
            )
            assert stripped.sentences == found.sentences
    assert sentences > len(questions)


@pytest.mark.parametrize("policy", POLICIES)
async def test_a_draft_is_judged_up_to_the_first_retrieval_with_its_query(
    questions: list[str], policy: str
) -> None:
    retrieving = 0
    async with open_client() as scaar:
        for question in questions:
            judged, text = await drafted(scaar, question, policy, UNLIMITED)
            first = next((at for at, each in enumerate(judged) if each.trigger is not None), None)
            found = await scaar.judge_draft(question, draft=text, policy=policy)
            assert found.retrieving == (first is not None)
            if first is None:
                assert len(found.sentences) == len(judged)
                continue
            retrieving += 1
            assert_same(found.sentences[:-1], judged[:first])
            assert_same(found.sentences[-1:], [replace(judged[first], retrieving=True)])
            assert found.query is not None
            # The sentences before it are not judged if they are given as accepted.
            before = "".join(each.text for each in judged[:first])
            draft = judged[first].text
            alone = await scaar.judge_draft(question, draft=draft, accepted=before, policy=policy)
            assert_same(alone.sentences, found.sentences[-1:])
            assert alone.query == found.query
    assert retrieving


@asynccontextmanager
async def served(server: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    """Yield a client of an orchestrator whose model is behind a server of the lab."""
    opened = open_tgi_server() if server == "tgi" else open_openai_server(dialect="vllm")
    async with opened as running:
        engine = "tgi" if server == "tgi" else "openai"
        settings = {"engine": engine, "url": running.url, "prompt_profile": "lab"}
        if server == "chat":
            settings["openai_api"] = "chat"
        for name, value in settings.items():
            monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)
        async with open_client() as scaar:
            yield scaar


@pytest.mark.parametrize("server", ["tgi", "completions"])
@pytest.mark.parametrize("policy", ["scaar", "flare", "perplexity"])
async def test_the_model_of_a_server_judges_a_draft_as_its_own(
    questions: list[str], server: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(server, monkeypatch) as scaar:
        for question in questions[:6]:
            expected, text = await drafted(scaar, question, policy, UNLIMITED)
            assert expected
            draft = text.strip()
            found = await scaar.judge_draft(question, draft=draft, policy=policy, budget=UNLIMITED)
            assert_same(found.sentences, expected)


@pytest.mark.parametrize(
    ("server", "settings", "missing"),
    [
        ("chat", {"policy": "flare"}, "a given draft needs text_logprobs"),
        ("tgi", {"policy": "mean_entropy"}, "policy mean_entropy needs entropy"),
        (
            "tgi",
            {"policy": "flare", "trigger": "margin"},
            "trigger margin needs the most probable tokens, which engine tgi does not give",
        ),
    ],
)
async def test_a_server_that_cannot_judge_a_draft_is_an_error(
    server: str, settings: dict[str, str], missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(server, monkeypatch) as scaar:
        with pytest.raises(CapabilityMissing, match=missing):
            await scaar.judge_draft("Who?", draft="Ada was born in Paris.", **settings)


def test_the_embedded_client_without_an_event_loop_judges_a_draft(questions: list[str]) -> None:
    with open_sync_client() as scaar:
        found = scaar.judge_draft(questions[0], draft="The film was released in 1932.")
    assert found.sentences
    assert found.provenance.model == "lab-lm"
