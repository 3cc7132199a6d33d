"""``dtr`` and ``dtr_reference``, compared with a simulation of their rule on the lab's model."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from scaar.compose import open_answerer, open_generator, open_retriever
from scaar.core.ports import Generator, Retriever
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    GenerateRequest,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    QueryBuilt,
    RetrievedPassage,
    RetrieveRequest,
    SentenceJudged,
    Token,
)
from scaar.lab.passages import passages_of
from scaar.lab.questions import draw_questions
from scaar.lab.world import World
from scaar.testing.commands import run_scaar
from scaar.testing.word_encoder import write_word_encoder

QUESTIONS, CANDIDATES, TOP_K, PASSAGE_TOKENS = 6, 5, 3, 256
THETA = 0.15
QUESTION = "Who directed the film The Haunted Fountain?"


@dataclass(frozen=True)
class Ran:
    """What a policy did for a question. Without a retrieval, there is no query and no passage."""

    surprisal: float
    retrieved: bool
    queries: tuple[str, ...]
    passages: tuple[str, ...]
    scores: tuple[float, ...]
    answer: str


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory, world: World) -> Path:
    """The encoder of an index ``words`` of the lab's passages."""
    texts = [f"{each.title} {each.text}" for each in passages_of(world)]
    return write_word_encoder(tmp_path_factory.mktemp("encoder") / "words", texts)


@pytest.fixture
def _words(encoder: Path, monkeypatch: pytest.MonkeyPatch, lab_home: Path) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", str(encoder))
    if not (lab_home / "indexes" / "words").is_dir():
        ran = run_scaar("index", "build", "words", "--lab", "--encoder", str(encoder))
        assert ran.status == 0, ran.err


async def written(
    generator: Generator, prompt: str, max_tokens: int = 256
) -> tuple[str, list[float]]:
    """Return the text after a prompt, and the surprisal of every token."""
    request = GenerateRequest(prompt, max_tokens=max_tokens, stop=("\nQuestion:",))
    async with aclosing(generator.generate(request)) as events:
        tokens = [event async for event in events if isinstance(event, Token)]
    surprisals = [-each.logprob for each in tokens if each.logprob is not None]
    assert len(surprisals) == len(tokens)
    return "".join(each.text for each in tokens), surprisals


def cosine(first: str, second: str, known: frozenset[str]) -> float:
    """Return the cosine of the word counts of two texts, each cut to 64 tokens."""
    counts = []
    for text in (first, second):
        tokens = re.findall(r"\w+|[^\w\s]+", text.lower())[:64]
        counts.append(Counter(each for each in tokens if each in known))
    product = sum(count * counts[1][word] for word, count in counts[0].items())
    lengths = [math.sqrt(sum(count**2 for count in each.values())) for each in counts]
    return product / math.prod(lengths) if all(lengths) else 0.0


def fused(policy: str, first: float, second: float) -> float:
    if policy == "dtr_reference":
        return first + second
    first, second = min(first, 1.0), min(second, 1.0)
    return math.cos(math.acos(first) + math.acos(second))


async def simulated(
    policy: str,
    generator: Generator,
    retriever: Retriever,
    question: str,
    known: frozenset[str],
    ties: Sequence[str],
) -> Ran:
    """Return what the rule does: decide by u, retrieve by two paths, rank, and answer.

    Passages whose scores differ by rounding only are in the order of ``ties``.
    """
    draft, surprisals = await written(generator, f"Question: {question}\nAnswer:")
    u = sum(surprisals) / len(surprisals)
    if u < THETA:
        return Ran(u, False, (), (), (), draft)
    prompt = f"Write a short passage that answers the question.\n\nQuestion: {question}\nPassage:"
    passage, _ = await written(generator, prompt, PASSAGE_TOKENS)
    queries = (question, " ".join(passage.split()[:256]))
    candidates = dict[str, RetrievedPassage]()
    for query in queries:
        found = await retriever.retrieve(RetrieveRequest((query,), CANDIDATES, "words"))
        candidates |= {each.id: each for each in found.results[0]}
    scores = {
        each.id: fused(
            policy, *(cosine(query, f"{each.title} {each.text}", known) for query in queries)
        )
        for each in candidates.values()
    }
    places = {each: place for place, each in enumerate(ties)}
    best = sorted(
        scores, key=lambda each: (-round(scores[each], 6), places.get(each, len(places)))
    )[:TOP_K]
    texts = [f"[{rank}] {candidates[each].text}\n" for rank, each in enumerate(best, 1)]
    answer, _ = await written(generator, f"Context:\n{''.join(texts)}Question: {question}\nAnswer:")
    return Ran(u, True, queries, tuple(best), tuple(scores[each] for each in best), answer)


def ran_in(events: Sequence[AnswerEvent]) -> Ran:
    (judged,) = (each for each in events if isinstance(each, SentenceJudged))
    built = [each.query for each in events if isinstance(each, QueryBuilt)]
    found = [each.passages for each in events if isinstance(each, PassagesRetrieved)]
    (finished,) = (each for each in events if isinstance(each, AnswerFinished))
    assert judged.score is not None
    return Ran(
        judged.score,
        judged.retrieving,
        tuple(text for each in built for text in (each.text, each.fused_with)),
        tuple(each.id for passages in found for each in passages),
        tuple(each.score for passages in found for each in passages),
        finished.answer.text,
    )


@pytest.mark.parametrize("policy", ["dtr", "dtr_reference"])
@pytest.mark.usefixtures("_words")
async def test_decisions_queries_passages_and_answers_follow_the_rule(
    policy: str, world: World
) -> None:
    passages = [f"{each.title} {each.text}" for each in passages_of(world)]
    known = frozenset(word for each in passages for word in re.findall(r"\w+", each.lower()))
    drawn = [*draw_questions(world, count=QUESTIONS, split="tail")]
    drawn += draw_questions(world, count=QUESTIONS, split="head")
    decisions = set[bool]()
    async with (
        open_answerer() as answerer,
        open_generator() as generator,
        open_retriever() as retriever,
    ):
        for question in (each.question for each in drawn):
            overrides = PolicyOverrides(theta=THETA)
            request = AnswerRequest(question, PolicyRequest(policy, overrides), index="words")
            async with aclosing(answerer.stream_answer(request)) as stream:
                ran = ran_in([event async for event in stream])
            rule = await simulated(policy, generator, retriever, question, known, ran.passages)
            assert ran.surprisal == pytest.approx(rule.surprisal)
            assert (ran.retrieved, ran.queries) == (rule.retrieved, rule.queries)
            assert ran.passages == rule.passages
            assert ran.scores == pytest.approx(rule.scores, abs=1e-6)
            assert ran.answer == rule.answer
            decisions.add(ran.retrieved)
    assert decisions == {True, False}, "some answers are certain, and some are not"


@pytest.mark.usefixtures("_words")
def test_the_command_line_answers_from_an_index_of_vectors() -> None:
    ran = run_scaar("ask", QUESTION, "--policy", "dtr", "--index", "words", "--json")
    assert ran.status == 0, ran.err
    events = [each["event"] for each in ran.records]
    assert events.count("sentence_judged") == 1
    assert ran.records[-1]["retrievals"] == events.count("passages_retrieved") == 1


def test_the_command_line_refuses_an_index_by_bm25() -> None:
    ran = run_scaar("ask", QUESTION, "--policy", "dtr_reference")
    assert ran.status != 0
    assert "'lab' is an index by BM25" in " ".join(ran.err.split())


@pytest.mark.usefixtures("_words")
@pytest.mark.long
def test_an_evaluation_compares_both_policies(tmp_path: Path) -> None:
    ran = run_scaar(
        *("eval", "run", "--dataset", "lab", "--limit", "3", "--seed", "1001"),
        *("--policies", "dtr,dtr_reference,single_round", "--index", "words"),
        *("--out", str(tmp_path / "results")),
    )
    assert ran.status == 0, ran.err
