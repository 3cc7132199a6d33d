"""Attention over the whole draft: what is written on, attended to, reused and counted."""

import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing, InvalidRequest
from scaar.core.types import (
    AnswerEvent,
    AttendRequest,
    Attention,
    AttentionKind,
    AttentionSpan,
    BudgetLimits,
    GenerateRequest,
    SentenceJudged,
)
from scaar.testing.fakes import WHITE_BOX_MODEL, Piece, ScriptedGenerator

from .scripted import (
    BORN_IN_LONDON,
    BORN_IN_PARIS,
    SO_LONDON,
    SO_PARIS,
    Parts,
    answer_in,
    asking,
    model,
    only,
    parts,
    sentences_in,
)

SHE_WROTE = " She wrote."
DRAFT = BORN_IN_PARIS + SHE_WROTE + SO_PARIS
NEVER = 100.0
"""A theta at which no sentence triggers."""


class Attending(ScriptedGenerator):
    """A white box that records the requests for attention."""

    def __init__(self, script) -> None:  # type: ignore[no-untyped-def]
        super().__init__(script, model=WHITE_BOX_MODEL)
        self.attended: list[AttendRequest] = []

    async def attend(self, request: AttendRequest) -> Attention:
        self.attended.append(request)
        return await super().attend(request)


async def answered(
    generator: Attending, policy: str = "dragin_reference", **settings: object
) -> list[AnswerEvent]:
    budget = settings.pop("budget", BudgetLimits())
    request = asking(policy, budget=budget, **settings)  # type: ignore[arg-type]
    return await Parts(generator).events(request)


async def test_the_sentences_of_a_draft_are_judged_on_all_of_it_in_one_call() -> None:
    generator = Attending(model({"": DRAFT}))
    events = await answered(generator, theta=NEVER)
    assert [each.text for each in only(SentenceJudged, events)] == [BORN_IN_PARIS, SHE_WROTE]
    assert sentences_in(events) == [BORN_IN_PARIS, SHE_WROTE, SO_PARIS]
    assert [each.text for each in generator.attended] == [DRAFT, DRAFT]
    assert all(each.prompt == "" and each.ended for each in generator.attended)
    assert {each.attention for each in generator.attended} == {AttentionKind.MAX_THEN_MEAN}
    assert len(generator.requests) == answer_in(events).usage.llm_calls == 1
    assert answer_in(events).usage.generated_tokens == len(DRAFT.split())


async def test_the_words_of_a_sentence_get_their_own_part_of_the_drafts_attention() -> None:
    events = await answered(Attending(model({"": DRAFT})), theta=NEVER)
    whole = await Attending(model()).attend(
        AttendRequest("", DRAFT, (), AttentionKind.MAX_THEN_MEAN, ended=True)
    )
    first = len(BORN_IN_PARIS.split())
    expected = whole.received[first : first + 2]
    found = only(SentenceJudged, events)[1].words
    assert [word.attention for word in found] == pytest.approx(
        [2 * each / sum(expected) for each in expected]
    )


async def test_a_draft_starts_again_after_a_rewritten_sentence() -> None:
    after = SHE_WROTE + SO_LONDON
    generator = Attending(model({"": DRAFT, BORN_IN_LONDON: after}, doubts=["Paris."]))
    events = await answered(generator, theta=2.0, query="question")
    assert sentences_in(events) == [BORN_IN_LONDON, SHE_WROTE, SO_LONDON]
    assert [each.text for each in generator.attended] == [DRAFT, after]
    usage = answer_in(events).usage
    assert usage.generated_tokens == sum(len(each.split()) for each in (DRAFT, after)) + 6


async def test_a_draft_has_a_limit_and_ends_with_the_judged_sentence_beyond_it() -> None:
    generator = Attending(model({"": DRAFT}))
    await answered(generator, theta=NEVER, draft_tokens=6)
    beyond = BORN_IN_PARIS + " She"
    assert [each.text for each in generator.attended] == [beyond, BORN_IN_PARIS + SHE_WROTE]
    assert not any(each.ended for each in generator.attended)


async def test_discarded_tokens_of_a_draft_do_not_count_against_the_limit() -> None:
    generator = Attending(
        model(
            {"": BORN_IN_PARIS + SHE_WROTE * 20, BORN_IN_LONDON: SO_LONDON},
            doubts=["Paris."],
        )
    )
    budget = BudgetLimits(max_tokens=60)
    events = await answered(generator, theta=2.0, query="question", budget=budget)
    assert sentences_in(events) == [BORN_IN_LONDON, SO_LONDON]
    _, again, rest = generator.requests
    assert again.max_tokens == 60 - 6, "the draft of the sentence, and the word after it"
    assert rest.max_tokens == 60 - 6 - 6
    assert answer_in(events).usage.generated_tokens == 45 + 6 + 5


async def test_the_span_of_a_sentence_is_the_sentence_alone() -> None:
    generator = Attending(model({"": DRAFT}))
    await answered(generator, theta=NEVER, attention_span=AttentionSpan.SENTENCE)
    assert [each.text for each in generator.attended] == [BORN_IN_PARIS, SHE_WROTE]
    assert not any(each.ended for each in generator.attended)


async def test_dragin_requests_the_attention_of_a_whole_draft_and_streams_that_of_a_sentence() -> (
    None
):
    generator = Attending(model({"": DRAFT}))
    events = await answered(generator, "dragin", theta=NEVER, attention_span=AttentionSpan.DRAFT)
    assert [each.text for each in generator.attended] == [DRAFT, DRAFT]
    assert all(each.prompt.endswith("Answer:") for each in generator.attended)
    assert not any(each.attention for each in generator.requests)
    alone = Attending(model({"": DRAFT}))
    separate = await answered(alone, "dragin", theta=NEVER)
    assert alone.attended == []
    first, other = only(SentenceJudged, events)[0], only(SentenceJudged, separate)[0]
    assert [word.attention for word in first.words] != [word.attention for word in other.words]


async def test_a_draft_that_cannot_be_written_to_its_end_fails_the_answer() -> None:
    def script(requested: GenerateRequest) -> list[Piece | Exception]:
        return [*model({"": BORN_IN_PARIS + " She"})(requested), BackendUnavailable("gone")]

    with pytest.raises(BackendUnavailable, match="gone"):
        await answered(Attending(script), theta=NEVER)


@pytest.mark.parametrize(
    ("policy", "settings", "field"),
    [
        ("dragin_reference", {"draft_tokens": 0}, "draft_tokens"),
        ("dragin_reference", {"draft_tokens": 1025}, "draft_tokens"),
        ("dragin", {"draft_tokens": 64}, "draft_tokens"),
        ("flare", {"attention_span": AttentionSpan.DRAFT}, "attention_span"),
        (
            "dragin_reference",
            {"attention_span": AttentionSpan.SENTENCE, "draft_tokens": 9},
            "draft_tokens",
        ),
    ],
)
async def test_a_span_without_effect_or_limit_is_refused_before_any_work(
    policy: str, settings: dict[str, object], field: str
) -> None:
    generator = Attending(model())
    with pytest.raises(InvalidRequest) as caught:
        await answered(generator, policy, **settings)
    assert [each.field for each in caught.value.violations] == [f"policy.{field}"]
    assert generator.requests == []


async def test_an_engine_without_attention_is_refused_before_any_work() -> None:
    ports = parts(model())
    with pytest.raises(CapabilityMissing, match="attention"):
        await ports.events(asking("dragin_reference"))
    assert ports.generator.requests == []
