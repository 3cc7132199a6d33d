"""Policies by entropies and attention, compared with computations on the model's graph."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from scaar.compose import open_answerer
from scaar.core.ports import Answerer
from scaar.core.queries import FORMULATIONS
from scaar.core.text.word_classes import WordClass, word_classes
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AttentionSpan,
    EvidenceKind,
    Granularity,
    JudgedWord,
    PolicyOverrides,
    PolicyRequest,
    QueryBuilt,
    SentenceAccepted,
    SentenceJudged,
    TokenDrafted,
)
from scaar.lab.questions import draw_questions
from scaar.lab.world import World
from scaar.testing.artefacts import LEARNED
from scaar.testing.commands import run_scaar

from .dragin_code import Code
from .white_box import Graph, Read, most_paid, trends

NEAR = 1e-5
FEW = 4
"""Words of a query: fewer than there are, so that it matters which."""
PROMPT = "Question: {question}\nAnswer:"


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph()


@pytest.fixture(scope="module")
def questions(world: World) -> list[str]:
    """Twenty questions about films that the model has never seen, and twenty about others."""
    return [
        question.question
        for split in ("tail", "head")
        for question in draw_questions(world, count=20, split=split)
    ]


@pytest.fixture(scope="module")
def corpus_counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The counts of a corpus that has nothing to do with the questions."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "texts.jsonl").write_text('{"id": "1", "text": "Nothing of the kind."}\n')
    out = folder / "corpus.counts"
    ran = run_scaar("corpus", "count", str(folder / "texts.jsonl"), "--out", str(out))
    assert ran.status == 0, ran.err
    return out


@pytest.fixture
async def answerer(corpus_counts: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Answerer]:
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE", str(corpus_counts))
    async with open_answerer() as opened:
        yield opened


@dataclass
class Judging:
    """A draft that was judged, what it was drafted after, and the query, if there was one."""

    question: str
    so_far: str
    ids: list[int]
    reported: SentenceJudged
    query: QueryBuilt | None = None


@dataclass
class Seen:
    """The drafts that the policy judged over all questions."""

    drafts: list[Judging] = field(default_factory=list)

    def see(self, question: str, events: list[AnswerEvent]) -> None:
        so_far, ids = "", dict[int, list[int]]()
        for event in events:
            match event:
                case TokenDrafted(sentence, token):
                    ids.setdefault(sentence, []).append(token.id)
                case SentenceJudged():
                    self.drafts.append(Judging(question, so_far, ids[event.sentence], event))
                case QueryBuilt():
                    self.drafts[-1].query = event
                case SentenceAccepted():
                    so_far += event.accepted.text


async def judged(
    answerer: Answerer, questions: list[str], policy: str, **settings: object
) -> list[Judging]:
    """What the policy made of the drafts; it retrieved for some, and for some it did not."""
    seen = Seen()
    overrides = PolicyOverrides(**settings)  # type: ignore[arg-type]
    for question in questions:
        request = AnswerRequest(question, PolicyRequest(policy, overrides))
        async with aclosing(answerer.stream_answer(request)) as stream:
            events = [event async for event in stream]
        assert isinstance(events[-1], AnswerFinished)
        seen.see(question, events)
    retrieved = [draft.query is not None for draft in seen.drafts]
    assert len(retrieved) >= len(questions)
    assert min(sum(retrieved), len(retrieved) - sum(retrieved)) >= 5
    return seen.drafts


def read(graph: Graph, draft: Judging) -> Read:
    """The draft in its prompt; its tokens are those that were drafted."""
    before = PROMPT.format(question=draft.question) + draft.so_far
    found = graph.read(before, draft.reported.text)
    assert [found.ids[at] for at in found.tokens] == draft.ids
    return found


def check_words(
    draft: Judging, expected: np.ndarray, value_of: Callable[[JudgedWord], float | None]
) -> None:
    assert [value_of(word) for word in draft.reported.words] == pytest.approx(
        list(expected), abs=NEAR
    )


def check_decision(draft: Judging, values: list[float], may: list[bool], theta: float) -> None:
    """Words over theta are uncertain, the first is the trigger, the largest value the score."""
    over = [each and value > theta for value, each in zip(values, may, strict=True)]
    reported = draft.reported
    assert [word.uncertain for word in reported.words] == over
    assert reported.trigger == (over.index(True) if any(over) else None)
    assert reported.retrieving is any(over) is (draft.query is not None)
    requested = [value for value, each in zip(values, may, strict=True) if each]
    assert reported.score == (pytest.approx(max(requested), abs=NEAR) if requested else None)


def check_attention_query(graph: Graph, draft: Judging) -> None:
    """The query has the words of question and answer that the trigger attends to most."""
    if draft.query is None:
        return
    assert draft.reported.trigger is not None
    whole, found = PROMPT.format(question=draft.question), read(graph, draft)
    trigger = found.words[draft.reported.trigger]
    requested = whole.index(draft.question)
    spans = [
        (requested, requested + len(draft.question)),
        (len(whole), len(whole) + len(draft.so_far) + trigger[0]),
    ]
    assert draft.query.query.text.split() == most_paid(found.paid_from(trigger, spans), FEW)
    assert not draft.query.query.fell_back


async def test_rind_is_what_the_graph_says(
    answerer: Answerer, questions: list[str], graph: Graph
) -> None:
    for draft in await judged(answerer, questions, "dragin", theta=1.9, top_words=FEW):
        found = read(graph, draft)
        may = [each is not WordClass.STOP for each in found.classes]
        values = found.shares() * found.mean_entropies * may
        check_words(draft, found.shares(), lambda word: word.attention)
        check_words(draft, found.mean_entropies, lambda word: word.entropy)
        check_words(draft, values, lambda word: word.value)
        check_decision(draft, list(values), may, 1.9)
        check_attention_query(graph, draft)


async def test_rind_over_the_draft_is_what_the_graph_says(
    answerer: Answerer, questions: list[str], graph: Graph
) -> None:
    code, differ = Code(), 0
    settings = {"theta": 1.9, "attention_span": AttentionSpan.DRAFT}
    for draft in await judged(answerer, questions, "dragin", **settings):
        before = PROMPT.format(question=draft.question) + draft.so_far
        written = code.write(before, most=128)
        whole, found = graph.read(before, written.text), read(graph, draft)
        shares = whole.shares(len(found.words))
        may = [each is not WordClass.STOP for each in found.classes]
        check_words(draft, shares, lambda word: word.attention)
        check_decision(draft, list(shares * found.mean_entropies * may), may, 1.9)
        differ += not np.allclose(shares, found.shares(), atol=NEAR)
    assert differ, "the text after a sentence attends to it"


async def test_the_entropy_trend_is_what_the_graph_says(
    answerer: Answerer, questions: list[str], graph: Graph
) -> None:
    for draft in await judged(answerer, questions, "etc", theta=1.0, top_words=FEW):
        found = read(graph, draft)
        places = [at for at, each in enumerate(found.classes) if each is not WordClass.STOP]
        values, may = [0.0] * len(found.words), [False] * len(found.words)
        for at, trend in zip(places[2:], trends(found.largest_entropies[places]), strict=False):
            values[at], may[at] = abs(trend), True
        check_words(draft, found.largest_entropies, lambda word: word.entropy)
        check_words(draft, np.array(values), lambda word: word.value)
        check_decision(draft, values, may, 1.0)
        check_attention_query(graph, draft)


async def test_the_authors_entropy_trend_is_what_the_graph_says(
    answerer: Answerer, questions: list[str], graph: Graph
) -> None:
    for draft in await judged(answerer, questions, "etc_reference", theta=2.0, top_words=FEW):
        found = read(graph, draft)
        places = [at for at, each in enumerate(found.classes) if each is WordClass.CONTENT]
        shares = found.paid_shares()
        values, may = [0.0] * len(found.words), [False] * len(found.words)
        found_trends = trends(found.largest_entropies[places], least_weight=0.9)
        for at, trend in zip(places[2:], found_trends, strict=False):
            values[at], may[at] = shares[at] * trend, True
        check_words(draft, found.largest_entropies, lambda word: word.entropy)
        check_words(draft, shares, lambda word: word.attention)
        check_words(draft, np.array(values), lambda word: word.value)
        check_decision(draft, values, may, 2.0)
        check_attention_query(graph, draft)


def check_whole(draft: Judging, value: float, weights: np.ndarray, theta: float) -> None:
    """A sentence above theta triggers at its heaviest word, and its query has all words."""
    reported = draft.reported
    check_words(draft, np.full(len(reported.words), value), lambda word: word.value)
    assert reported.score == pytest.approx(value, abs=NEAR)
    assert reported.trigger == (int(weights.argmax()) if value > theta else None)
    assert (draft.query is not None) is (value > theta)
    if draft.query is not None:
        assert draft.query.query.text == " ".join(reported.text.split())


async def test_the_mean_entropy_is_what_the_graph_says(
    answerer: Answerer, questions: list[str], graph: Graph
) -> None:
    for draft in await judged(answerer, questions, "mean_entropy", theta=0.9):
        found = read(graph, draft)
        check_words(draft, found.mean_entropies, lambda word: word.entropy)
        check_whole(draft, float(found.token_entropies.mean()), found.mean_entropies, 0.9)


async def test_perplexity_is_what_the_graph_says(
    answerer: Answerer, questions: list[str], graph: Graph
) -> None:
    for draft in await judged(answerer, questions, "perplexity", theta=1.7):
        found = read(graph, draft)
        check_words(draft, found.probabilities, lambda word: word.probability)
        value = float(np.exp(-found.token_logprobs.mean()))
        check_whole(draft, value, -found.probabilities, 1.7)


async def test_the_weighting_by_attention_is_what_the_graph_says(
    answerer: Answerer, questions: list[str], graph: Graph
) -> None:
    settings = {"trigger": "attention", "theta": 0.25}
    for draft in await judged(answerer, questions, "flare", **settings):
        found = read(graph, draft)
        shares, probabilities = found.shares(), found.probabilities
        may = shares > 0
        limits = [0.25 ** (1 / share) if share > 0 else 0.0 for share in shares]
        check_words(draft, shares, lambda word: word.attention)
        check_words(draft, probabilities, lambda word: word.probability)
        check_words(draft, np.array(limits), lambda word: word.threshold)
        under = [bool(each) for each in may & (probabilities < limits)]
        assert [word.uncertain for word in draft.reported.words] == under
        assert draft.reported.trigger == (under.index(True) if any(under) else None)
        assert draft.reported.score == pytest.approx((probabilities**shares)[may].min(), abs=NEAR)


LOW = dict.fromkeys(TRIGGERS, 0.01) | {"perplexity": 1.001}
HIGH = dict.fromkeys(("flare", "exp_raw", "surprisal", "attention"), 1.0)
"""Thetas at which about every sentence is retrieved for."""


async def reported(
    answerer: Answerer, question: str, overrides: PolicyOverrides
) -> list[AnswerEvent]:
    learned = LEARNED if overrides.trigger == "learned" else None
    request = AnswerRequest(question, PolicyRequest("scaar", overrides, learned=learned))
    async with aclosing(answerer.stream_answer(request)) as stream:
        return [event async for event in stream]


@pytest.mark.parametrize("trigger", TRIGGERS)
async def test_every_trigger_asks_by_every_query(
    answerer: Answerer, questions: list[str], trigger: str
) -> None:
    theta = HIGH.get(trigger, LOW[trigger])
    for formulation in FORMULATIONS:
        overrides = PolicyOverrides(trigger=trigger, theta=theta, query=formulation)
        events = await reported(answerer, questions[0], overrides)
        built = [event.query for event in events if isinstance(event, QueryBuilt)]
        assert built
        for query in built:
            assert query.formulation == formulation
            assert query.text.strip()
            # The trigger may be the first word, and attend to the question's words alone.
            if query.fell_back or formulation == "question":
                assert query.text == questions[0]


@pytest.mark.parametrize("trigger", [each for each in TRIGGERS if TRIGGERS[each].by_word])
@pytest.mark.parametrize("granularity", Granularity)
@pytest.mark.parametrize("spared", [False, True])
async def test_every_trigger_by_words_goes_by_tokens_and_spares_stop_words(
    answerer: Answerer,
    questions: list[str],
    trigger: str,
    granularity: Granularity,
    spared: bool,
) -> None:
    takes = EvidenceKind.WORD_CLASSES not in TRIGGERS[trigger].needs
    overrides = PolicyOverrides(
        trigger=trigger,
        theta=HIGH.get(trigger, LOW[trigger]),
        granularity=granularity,
        spare_stop_words=spared if takes else None,
        query="current_sentence",
    )
    for question in questions[:2]:
        events = await reported(answerer, question, overrides)
        drafts = [event for event in events if isinstance(event, SentenceJudged)]
        assert drafts
        for draft in drafts:
            assert "".join(word.text for word in draft.words) == "".join(draft.text.split())
            for word in draft.words:
                assert draft.text[word.start : word.end] == word.text
            if granularity is Granularity.WORD and spared and takes:
                kinds = word_classes([word.text for word in draft.words])
                stops = [kind is WordClass.STOP for kind in kinds]
                assert not any(
                    word.uncertain for word, stop in zip(draft.words, stops, strict=True) if stop
                )
            if granularity is Granularity.TOKEN:
                assert len(draft.words) >= len(draft.text.split())


@pytest.mark.parametrize("policy", ["dragin", "dragin_reference"])
def test_one_answer_at_a_time_needs_one_place(
    questions: list[str], monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_MAX_CONCURRENT", "1")
    ran = run_scaar("ask", questions[0], "--policy", policy, "--json")
    assert (ran.status, ran.err) == (0, "")
    assert ran.records[-1]["retrievals"]
