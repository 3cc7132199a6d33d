"""A recorded draft is judged as its policy judged it, and as another one would have."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest, WrongState
from scaar.core.records import (
    AnswerRecord,
    ExplainRecordRequest,
    RecordContent,
    RecordExplanation,
    RecordSummary,
)
from scaar.core.types import (
    AnswerForm,
    AnswerRequest,
    BudgetLimits,
    Granularity,
    Passage,
    PolicyOverrides,
    QueryBuilt,
    SentenceJudged,
    TokenDrafted,
)
from scaar.records.explanation import explain
from scaar.testing.answer_records import redacted_record
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator
from tests.unit.core.scripted import (
    BORN_IN_LONDON,
    BORN_IN_PARIS,
    SO_LONDON,
    SO_PARIS,
    Parts,
    asking,
    model,
    only,
    parts,
    words_of,
)

SUMMARY = RecordSummary("r", "q", "t", "2026-03-01T00:00:00Z", RecordContent.FULL, "flare")
DIED_IN_ROME = " She died in Rome."
UNSURE = model(doubts=["Paris.", "Ada"])


async def recorded(request: AnswerRequest) -> AnswerRecord:
    events = await parts(UNSURE).events(request)
    return AnswerRecord(SUMMARY, request, tuple(events), tuple(map(float, range(len(events)))))


def explained(record: AnswerRecord, policy: str = "", **overrides: object) -> RecordExplanation:
    changes = PolicyOverrides(**overrides)  # type: ignore[arg-type]
    return explain(record, ExplainRecordRequest("r", policy, changes))


@pytest.mark.parametrize("policy", ["scaar", "flare", "perplexity", "quco", "verified"])
async def test_the_same_settings_judge_as_they_did(policy: str) -> None:
    record = await recorded(asking(policy))
    found = explained(record)
    judged = only(SentenceJudged, record.events)
    assert judged
    assert [each.judged for each in found.drafts] == judged
    assert found.first_difference is None
    assert found.retrievals == found.recorded_retrievals


@pytest.mark.parametrize("theta", [0.05, 0.1, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("policy", ["scaar", "flare"])
async def test_another_theta_decides_as_a_real_answer_at_it(policy: str, theta: float) -> None:
    found = explained(await recorded(asking(policy)), theta=theta)
    real = only(SentenceJudged, await parts(UNSURE).events(asking(policy, theta=theta)))
    assert found.policy.theta == theta
    last = len(found.drafts) - 1 if found.first_difference is None else found.first_difference
    for each, judged in list(zip(found.drafts, real, strict=False))[: last + 1]:
        assert each.judged == judged


@pytest.mark.parametrize("answer", [" Ada was born in Paris.", " I don't know."])
async def test_an_answer_from_documents_is_judged_as_it_was_and_at_another_theta(
    answer: str,
) -> None:
    """The second answer is the last, and no draft of it retrieves."""
    passages = [Passage(f"p{at}", "Ada", f"Ada was born in London {at}.") for at in range(6)]
    generator = ScriptedGenerator(lambda given: [] if given.prefix else words_of(answer))
    ports = Parts(generator, retriever=InMemoryRetriever({"lab": passages}))
    request = replace(
        asking("verified"), prompt_profile="instruct", answer=AnswerForm.TEXT, index="lab"
    )
    events = tuple(await ports.events(request))
    record = AnswerRecord(SUMMARY, request, events, tuple(map(float, range(len(events)))))
    found = explained(record)
    assert [each.judged for each in found.drafts] == only(SentenceJudged, events)
    assert (found.recorded_retrievals, found.retrievals) == (1, 1)
    lenient = explained(record, theta=1.0)
    assert lenient.retrievals == ("know" in answer)


async def test_another_policy_and_trigger_judge_the_recorded_draft() -> None:
    record = await recorded(asking("flare"))
    (own,) = explained(record).drafts
    assert explained(record, "perplexity").policy.trigger == "perplexity"
    sentence = explained(record, trigger="surprisal_sum", theta=50.0)
    assert sentence.retrievals == 0
    assert sentence.first_difference == 0
    assert own.recorded_retrieving
    tokens = explained(record, granularity=Granularity.TOKEN)
    assert [word.text for word in tokens.drafts[0].judged.words] == [
        each.text for each in own.judged.words
    ]


async def test_the_budget_of_the_answer_limits_what_would_have_been_retrieved() -> None:
    request = asking("flare", budget=BudgetLimits(max_retrievals=0))
    found = explained(await recorded(request), theta=1.0)
    assert found.drafts[0].judged.trigger is not None
    assert not found.drafts[0].judged.retrieving
    assert found.retrievals == 0


async def test_missing_evidence_is_named() -> None:
    record = await recorded(asking("flare"))
    for trigger, name in {
        "surprisal": "contributions",
        "rind": "attention",
        "corpus_counts": "corpus_counts",
        "margin": "top_tokens",
        "learned": "parameters",
    }.items():
        with pytest.raises(WrongState, match=name):
            explained(record, trigger=trigger)


async def test_a_record_without_texts_or_tokens_is_judged_as_far_as_it_can_be() -> None:
    record = await recorded(asking("flare"))
    bare = redacted_record(record, RecordContent.NONE)
    whole = explained(record, theta=0.9)
    for lacking in (bare, replace(record, events=without_tokens(record))):
        found = explained(lacking, theta=0.9)
        assert [each.judged.retrieving for each in found.drafts] == [
            each.judged.retrieving for each in whole.drafts
        ]
        assert found.drafts[0].judged.words[0].probability == pytest.approx(
            whole.drafts[0].judged.words[0].probability
        )
    with pytest.raises(WrongState, match="word_classes"):
        explained(bare, spare_stop_words=True)
    with pytest.raises(WrongState, match="tokens"):
        explained(replace(record, events=without_tokens(record)), trigger="perplexity")


def without_tokens(record: AnswerRecord) -> tuple[object, ...]:
    return tuple(each for each in record.events if not isinstance(each, TokenDrafted))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("policy", "overrides", "field"),
    [
        ("", {"theta": 2.0}, "overrides.theta"),
        ("", {"theta_cap": 0.5}, "overrides.theta_cap"),
        ("", {"trigger": "none"}, "overrides.trigger"),
        ("", {"top_k": 3}, "overrides.top_k"),
        ("", {"trigger": "msp", "granularity": Granularity.TOKEN}, "overrides.granularity"),
        ("none", {}, "policy"),
        ("single_round", {}, "policy"),
        ("flare", {"theta": 2.0}, "overrides.theta"),
    ],
)
async def test_wrong_settings_are_refused_by_name(
    policy: str, overrides: Mapping[str, object], field: str
) -> None:
    record = await recorded(asking("flare"))
    with pytest.raises(InvalidRequest) as refused:
        explained(record, policy, **overrides)
    assert [each.field for each in refused.value.violations] == [field]


async def test_an_answer_without_a_judged_draft_has_nothing_to_explain() -> None:
    record = await recorded(asking("single_round"))
    with pytest.raises(InvalidRequest, match="name a policy"):
        explained(record)
    with pytest.raises(WrongState, match="judged no draft"):
        explained(record, "flare")
    with pytest.raises(WrongState, match="before it started"):
        explained(replace(record, events=()))


@pytest.mark.parametrize("policy", ["scaar", "flare", "perplexity"])
@pytest.mark.parametrize(
    "query",
    [
        "pfq",
        "current_sentence",
        "content_words",
        "span_masked",
        "uncovered_question",
        "fused",
        "bridged",
    ],
)
async def test_the_same_settings_build_the_same_query(query: str, policy: str) -> None:
    record = await recorded(asking(policy, query=query))
    (built, *others) = only(QueryBuilt, record.events)
    draft = explained(record).drafts[0]
    assert not others
    assert draft.query == built.query
    assert len(draft.query_words) == len(draft.judged.words)
    kept = [at for at, word in enumerate(draft.query_words) if word.kept]
    assert kept == list(built.query.kept)


async def test_a_bridged_query_is_built_of_the_recorded_passages() -> None:
    drafts = {"": BORN_IN_PARIS + DIED_IN_ROME, BORN_IN_LONDON: DIED_IN_ROME + SO_PARIS}
    again = {"": BORN_IN_LONDON + DIED_IN_ROME, BORN_IN_LONDON: DIED_IN_ROME + SO_LONDON}
    drafts[BORN_IN_LONDON + DIED_IN_ROME] = SO_LONDON
    request = asking("scaar", query="bridged", top_k=1)
    events = await parts(model(drafts, again, ["Paris.", "Rome."])).events(request)
    built = [each.query for each in only(QueryBuilt, events)]
    assert "London" in built[1].text
    times = tuple(map(float, range(len(events))))
    found = explained(AnswerRecord(SUMMARY, request, tuple(events), times))
    assert [each.query for each in found.drafts] == built


async def test_another_theta_builds_the_query_of_a_real_answer_at_it() -> None:
    found = explained(await recorded(asking("scaar")), theta=0.9)
    events = await parts(UNSURE).events(asking("scaar", theta=0.9))
    assert found.drafts[0].query == only(QueryBuilt, events)[0].query
    assert explained(await recorded(asking("scaar")), theta=0.001).drafts[0].query is None


async def test_a_record_without_what_a_query_needs_has_none() -> None:
    request = asking("scaar")
    without_texts = redacted_record(await recorded(request), RecordContent.NONE)
    assert explained(without_texts).drafts[0].judged.retrieving
    assert explained(without_texts).drafts[0].query is None
    without_contributions = await recorded(asking("flare"))
    assert explained(without_contributions, "flare", theta=0.9).drafts[0].query is not None
    question = explained(await recorded(asking("flare", query="question"))).drafts[0]
    assert (question.query, question.query_words) == (None, ())
