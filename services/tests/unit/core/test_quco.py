"""QuCo-RAG: the gate, the trigger and the query by counts in a corpus."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import CapabilityMissing, DataCorrupt, InvalidRequest
from scaar.core.gates import read_gate
from scaar.core.gates.gate_json import gate_content
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.loop.shadow import ShadowSampling
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.queries import build_query
from scaar.core.text.words import split_words
from scaar.core.types import (
    AnswerRequest,
    GateJudged,
    JudgedWord,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    QueryBuilt,
    QueryRequest,
    QuerySettings,
    SentenceJudged,
    SettingSource,
)
from scaar.testing.corpus_counts import ReadCorpus

from .scripted import (
    BORN_IN_LONDON,
    BORN_IN_PARIS,
    QUESTION,
    SO_LONDON,
    SO_PARIS,
    Parts,
    Script,
    Untouchable,
    answer_in,
    asking,
    kinds,
    model,
    only,
    parts,
    sentences_in,
)

IN_PARIS = "Ada was born in Paris."
IN_LONDON = "Ada was born in London."
AGAIN = {"": BORN_IN_LONDON + SO_LONDON, BORN_IN_LONDON: SO_LONDON}


def known(*texts: str, times: int = 1_000) -> ReadCorpus:
    """A corpus with these texts, in which the question's entity is not rare."""
    return ReadCorpus(*texts, "Ada " * times)


def quco(corpus: ReadCorpus) -> Parts:
    return parts(model(again=AGAIN), corpus_counts=corpus)


def writing(sentence: str) -> Script:
    """Write this sentence, and with passages another one."""
    drafts = {"": sentence + SO_PARIS, sentence: SO_PARIS, BORN_IN_LONDON: SO_LONDON}
    return model(drafts, AGAIN)


async def test_the_question_is_retrieved_for_if_its_entities_are_rare() -> None:
    ports = quco(ReadCorpus(IN_LONDON))
    events = await ports.events(asking("quco"))
    assert kinds(events)[:5] == [
        "AnswerStarted",
        "GateJudged",
        "QueryBuilt",
        "PassagesRetrieved",
        "TokenDrafted",
    ]
    (judged,) = only(GateJudged, events)
    assert (judged.gate, judged.policy, judged.passed) == ("quco", "quco", True)
    assert judged.features == {"entities": 1.0, "mean_count": 1.0}
    (built,) = only(QueryBuilt, events)
    assert built.query.text == QUESTION
    assert (built.query.formulation, built.query.fell_back) == ("question", False)
    # The corpus has Ada with London, which the model writes from the passages.
    assert [each.trigger for each in only(SentenceJudged, events)] == [None]
    assert sentences_in(events) == [BORN_IN_LONDON, SO_LONDON]
    assert answer_in(events).usage.retrievals == 1


async def test_a_sentence_is_retrieved_for_if_its_entities_never_occur_together() -> None:
    events = await quco(known(IN_LONDON)).events(asking("quco"))
    (gate,) = only(GateJudged, events)
    assert (gate.policy, gate.passed) == ("quco", False)
    (judged,) = only(SentenceJudged, events)
    assert judged.retrieving
    assert judged.trigger == 4
    assert judged.score == 1.0
    assert [word.uncertain for word in judged.words] == [False] * 4 + [True]
    assert [word.value for word in judged.words] == [0.0] * 4 + [1.0]
    assert judged.signals["entity_count_min"] == 0.0
    assert judged.signals["entities_together_min"] == 0.0
    (built,) = only(QueryBuilt, events)
    assert (built.query.text, built.query.formulation) == ("Ada was born in", "entity_relation")
    assert built.query.kept == (0, 1, 2, 3)
    assert sentences_in(events) == [BORN_IN_LONDON, SO_LONDON]


async def test_what_the_corpus_supports_is_accepted_without_a_retrieval() -> None:
    ports = quco(known(IN_PARIS, IN_PARIS))
    events = await ports.events(asking("quco"))
    (judged,) = only(SentenceJudged, events)
    assert (judged.trigger, judged.score) == (None, pytest.approx(1 / 3))
    assert judged.signals["entity_count_min"] == 2.0
    assert judged.signals["entities_together_min"] == 2.0
    assert sentences_in(events) == [BORN_IN_PARIS, SO_PARIS]
    assert answer_in(events).usage.retrievals == 0
    assert ports.retriever.requests == []


@pytest.mark.parametrize(("words", "together"), [(998, True), (999, False)])
async def test_entities_occur_together_within_1000_words(words: int, together: bool) -> None:
    text = f"Ada{' so' * words} so Paris"
    events = await quco(known(text)).events(asking("quco"))
    (judged,) = only(SentenceJudged, events)
    assert (judged.trigger is None) is together


@pytest.mark.parametrize(("times", "retrieves"), [(999, True), (1_000, False)])
async def test_the_question_is_rare_below_a_mean_of_1000_occurrences(
    times: int, retrieves: bool
) -> None:
    ports = quco(ReadCorpus("Ada " * (times - 1), "Ada, Paris, London"))
    events = await ports.events(asking("quco"))
    (judged,) = only(GateJudged, events)
    assert judged.features["mean_count"] == times
    assert judged.passed is retrieves
    assert len(only(PassagesRetrieved, events)) == retrieves


async def test_the_threshold_of_the_gate_is_that_of_its_file_or_of_the_request() -> None:
    gate = read_gate(gate_content("quco", {"min_count": 3}), "gate.json")
    assert gate.threshold is not None
    assert 1 / 4 < gate.threshold < 1 / 3
    ports = quco(ReadCorpus(IN_PARIS, IN_PARIS))
    loop = AdaptiveLoop(
        Ports(ports.generator, ports.scorer, ports.query_builder, ports.retriever),
        gate=gate,
        corpus_counts=ports.corpus_counts,
        default_index="lab",
    )
    events = [event async for event in loop.stream_answer(asking("quco"))]
    assert only(GateJudged, events)[0].passed
    provenance = answer_in(events).provenance
    assert provenance.gate_revision == gate.revision != ""
    assert dict(provenance.policy.sources)["gate_threshold"] is SettingSource.GATE
    events = [event async for event in loop.stream_answer(asking("quco", gate_threshold=0.5))]
    assert not only(GateJudged, events)[0].passed


@pytest.mark.parametrize("count", [0, 0.5, -1, 10**10])
def test_a_gate_file_with_a_wrong_count_is_refused(count: float) -> None:
    with pytest.raises(DataCorrupt, match="min_count must be a whole number from 1 to 1000000000"):
        read_gate(gate_content("quco", {"min_count": count}), "gate.json")


async def test_a_question_without_entities_is_not_retrieved_for() -> None:
    ports = quco(known())
    request = AnswerRequest("where was she born?", PolicyRequest("quco"))
    events = await ports.events(request)
    (judged,) = only(GateJudged, events)
    assert (judged.probability, judged.features) == (0.0, {"entities": 0.0})


@pytest.mark.parametrize("policy", ["single_round", "flare", "ircot"])
@pytest.mark.parametrize("times", [5, 2_000])
async def test_for_other_policies_the_gate_decides_on_every_retrieval(
    policy: str, times: int
) -> None:
    ports = parts(model(again=AGAIN, doubts=["Paris."]), corpus_counts=ReadCorpus("Ada " * times))
    events = await ports.events(asking(policy, gate="quco"))
    (judged,) = only(GateJudged, events)
    rare = times < 1_000
    assert judged.policy == (policy if rare else "no_retrieval")
    assert bool(only(PassagesRetrieved, events)) is rare
    assert answer_in(events).provenance.corpus_counts_digest == "b00c"


async def test_the_trigger_and_the_query_serve_other_policies_without_the_gate() -> None:
    ports = quco(ReadCorpus(IN_LONDON))
    request = asking("flare", trigger="corpus_counts", query="entity_relation")
    events = await ports.events(request)
    assert only(GateJudged, events) == []
    (built,) = only(QueryBuilt, events)
    assert built.query.text == "Ada was born in"
    assert answer_in(events).provenance.corpus_counts_digest == "b00c"


@pytest.mark.parametrize(("given", "retrieves"), [(5, False), (6, True), (None, True)])
async def test_a_sentence_with_one_entity_is_retrieved_for_if_the_entity_is_rare(
    given: int | None, retrieves: bool
) -> None:
    script = writing(" Ada sang.")
    ports = parts(script, corpus_counts=ReadCorpus("Ada " * 5))
    request = asking("flare", trigger="corpus_counts", query="entity_relation", min_count=given)
    events = await ports.events(request)
    (judged,) = only(SentenceJudged, events)
    assert judged.trigger == (0 if retrieves else None)
    assert [each.query.text for each in only(QueryBuilt, events)] == ["Ada sang."] * retrieves
    policy = answer_in(events).provenance.policy
    assert policy.min_count == (given or 20)
    source = SettingSource.REQUEST if given else SettingSource.PAPER
    assert dict(policy.sources)["min_count"] is source


async def test_a_sentence_about_the_question_has_the_best_supported_of_its_entities_as_head() -> (
    None
):
    sentence = " She was born in Paris."
    script = writing(sentence)
    corpus = ReadCorpus("Byron of Paris. Byron in Paris.")
    ports = parts(script, corpus_counts=corpus)
    overrides = PolicyOverrides(trigger="corpus_counts", query="entity_relation")
    asked = PolicyRequest("flare", overrides)
    events = await ports.events(AnswerRequest("Where was Ada, the child of Byron, born?", asked))
    (judged,) = only(SentenceJudged, events)
    assert judged.signals["entities_together_min"] == 4.0
    assert corpus.paired == [("Ada", "Paris"), ("Byron", "Paris")]
    ports = parts(script, corpus_counts=ReadCorpus("Paris"))
    events = await ports.events(AnswerRequest("Where was Ada, the child of Byron, born?", asked))
    (built,) = only(QueryBuilt, events)
    assert built.query.text == "Ada Byron She was born in"


async def test_a_sentence_without_entities_is_certain() -> None:
    script = writing(" It rained.")
    ports = parts(script, corpus_counts=ReadCorpus())
    events = await ports.events(asking("flare", trigger="corpus_counts"))
    (judged,) = only(SentenceJudged, events)
    assert (judged.trigger, judged.score) == (None, 0.0)
    assert "entity_count_min" not in judged.signals


NAMES = ("Ada", "Byron", "Paris", "Rome", "Zoë Lund")
corpora = st.lists(st.lists(st.sampled_from((*NAMES, "so")), max_size=6), max_size=4)


@given(
    corpus=corpora,
    head=st.sampled_from(NAMES),
    tails=st.lists(st.sampled_from(NAMES), max_size=2),
    theta=st.floats(0.05, 1.0),
    min_count=st.integers(1, 4),
)
async def test_the_decisions_are_those_of_the_rule(
    corpus: Sequence[Sequence[str]],
    head: str,
    tails: Sequence[str],
    theta: float,
    min_count: int,
) -> None:
    # "met" is no name, so each name of the sentence is an entity of its own.
    sentence = f" {' met '.join((head, *tails))} today."
    script = writing(sentence)
    texts = [" so ".join(each) for each in corpus]
    ports = parts(script, corpus_counts=ReadCorpus(*texts))
    request = AnswerRequest(
        f"Who met {head}?",
        PolicyRequest(
            "flare", PolicyOverrides(trigger="corpus_counts", theta=theta, min_count=min_count)
        ),
    )
    (judged,) = only(SentenceJudged, await ports.events(request))
    tails = [tail for tail in tails if tail != head]
    together = [sum(names.count(head) * names.count(tail) for names in corpus) for tail in tails]
    if tails:
        doubts = [1 / (1 + n) for n in together]
    else:
        doubts = [1.0] if sum(names.count(head) for names in corpus) < min_count else [0.0]
    assert judged.score == max(doubts)
    assert (judged.trigger is not None) is any(doubt > theta for doubt in doubts)
    if tails:
        uncertain = {word.text for word in judged.words if word.uncertain}
        expected = [tail for tail, doubt in zip(tails, doubts, strict=True) if doubt > theta]
        assert uncertain == {word for tail in expected for word in tail.split()}


@pytest.mark.parametrize(
    ("policy", "overrides"),
    [
        ("quco", {}),
        ("quco", {"trigger": "flare"}),
        ("quco", {"gate": "targ"}),
        ("flare", {"trigger": "corpus_counts"}),
        ("single_round", {"gate": "quco"}),
    ],
)
async def test_without_a_file_of_counts_a_request_is_refused_before_any_work(
    policy: str, overrides: dict[str, str]
) -> None:
    nothing = Untouchable()
    loop = AdaptiveLoop(Ports(nothing, nothing, nothing, nothing))  # type: ignore[arg-type]
    with pytest.raises(CapabilityMissing) as caught:
        await anext(loop.stream_answer(asking(policy, **overrides)))
    assert caught.value.metadata["missing"] == "corpus_counts_file"
    assert caught.value.message.startswith(f"policy {policy} needs a file of corpus counts")
    assert "scaar corpus count" in caught.value.message
    assert "SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE" in caught.value.message


async def test_policies_that_count_nothing_have_no_digest() -> None:
    answer = answer_in(await quco(known(IN_PARIS)).events(asking("flare")))
    assert answer.provenance.corpus_counts_digest == ""


@pytest.mark.parametrize(
    ("policy", "overrides", "message"),
    [
        ("quco", {"min_count": 0}, "must be 1 to 1000000000 for policy quco, not 0"),
        ("flare", {"min_count": 5}, "has no effect with trigger flare"),
        ("single_round", {"min_count": 5}, "policy single_round has no such setting"),
        ("single_round", {"query": "entity_relation"}, "policy single_round has no such setting"),
        ("ircot", {"query": "entity_relation"}, "needs a draft, and policy ircot judges none"),
    ],
)
async def test_settings_without_effect_or_out_of_range_are_refused(
    policy: str, overrides: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        await quco(known()).events(asking(policy, **overrides))


def test_a_shadow_by_counts_needs_counts() -> None:
    with pytest.raises(InvalidRequest, match="trigger corpus_counts needs corpus_counts_file"):
        ShadowSampling(TunedPolicies(), "quco", 1.0)
    ShadowSampling(TunedPolicies(), "quco", 1.0, corpus_counts=True)


def _query(question: str, sentence: str, **settings: object) -> str:
    words = [
        JudgedWord(word.text, word.start, word.end, 0.9, 0.5, uncertain=False)
        for word in split_words(sentence)
    ]
    chosen = QuerySettings("entity_relation", include_question=False, **settings)  # type: ignore[arg-type]
    return build_query(QueryRequest(question, chosen, tuple(words))).text


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("The mother of Ada was Anne Byron.", "The mother of Ada was"),
        ("Ada met Byron in Paris today.", "Ada met in today."),
        ("She was born in Paris.", "Ada She was born in"),
        ("Ada sang.", "Ada sang."),
        ("It rained.", QUESTION),
    ],
)
def test_the_query_is_the_head_and_the_words_of_no_entity(sentence: str, query: str) -> None:
    assert _query(QUESTION, sentence) == query


def test_the_query_has_at_most_its_number_of_words() -> None:
    assert _query(QUESTION, "She was born in Paris.", max_words=3) == "Ada She was"
