"""The sentence filter of FILCO: features, file, and what reaches the prompt."""

import json
import math
from dataclasses import replace

import pytest

from scaar.core.errors import CapabilityMissing, DataCorrupt
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.sentence_filter.features import FEATURES, features_of, sentences_of
from scaar.core.sentence_filter.filter_json import filter_from_json, filter_to_json
from scaar.core.sentence_filter.learned_filter import FeatureWeight, Labelling, LearnedFilter
from scaar.core.types import (
    FilteredPassage,
    FilteredSentence,
    Passage,
    PassagesFiltered,
    RetrievedPassage,
    SentenceAccepted,
    SentenceFilter,
)
from scaar.testing.fakes import InMemoryRetriever
from scaar.testing.sentence_filter import OVERLAP_FILTER

from .scripted import (
    AGAIN,
    BORN_IN_LONDON,
    QUESTION,
    SO_LONDON,
    UNSURE_OF_PARIS,
    Parts,
    Untouchable,
    answer_in,
    asking,
    kinds,
    model,
    only,
    parts,
)

FILM = RetrievedPassage(
    "p1",
    "The Bell",
    "The Bell was shot in Rome. It was released in 1937, after Ada Vale died.",
    6.0,
    1,
)
OTHER = RetrievedPassage("p2", "The Clock", "The Clock was released in 1949.", 2.0, 2)
EMPTY = RetrievedPassage("p3", "", " \n", 1.0, 3)
ASKED = "When was The Bell released?"
LEARNED = LearnedFilter(
    Labelling.LEXICAL,
    threshold=0.4,
    intercept=-0.3,
    weights=tuple(FeatureWeight(0.1 * at, 1 + at, (-1) ** at * 0.7) for at in range(len(FEATURES))),
)
AGAIN_ONCE = {**AGAIN, BORN_IN_LONDON: SO_LONDON}
NOISE = "Byron was a poet."


def test_the_features_are_those_of_a_recomputation() -> None:
    ((shot, released), (clock,), nothing) = features_of(ASKED, (FILM, OTHER, EMPTY))
    # Of three sentences "when" is in none, "was" and "the" in three or two, "bell" in one.
    weight = {n: math.log(4 / (n + 0.5)) for n in range(4)}
    every = weight[0] + weight[3] + weight[2] + weight[1] + weight[2]
    assert nothing == ()
    assert shot.values == pytest.approx(
        (
            *(3 / 5, (weight[3] + weight[2] + weight[1]) / every),
            *(1.0, 3 / 6, 1.0),
            *(math.log(7), 0.0, 1.0, 1.0, 0.0, 1 / 6),
        )
    )
    assert released.overlap == 2 / 5
    assert (released.position, released.numbers, released.names) == (1.0, 1.0, 2 / 9)
    assert (clock.title_overlap, clock.rank, clock.score) == (1 / 2, 1 / 2, pytest.approx(1 / 5))
    relative = (weight[3] + 2 * weight[2]) / (weight[3] + weight[2] + weight[1])
    assert clock.relative_overlap == pytest.approx(relative)


def test_the_probability_is_that_of_the_formula() -> None:
    ((shot, *_), *_) = features_of(ASKED, (FILM,))
    logit = -0.3
    for at, value in enumerate(shot.values):
        logit += (-1) ** at * 0.7 * (value - 0.1 * at) / (1 + at)
    assert LEARNED.probability(shot) == pytest.approx(1 / (1 + math.exp(-logit)))


def test_words_of_scripts_without_spaces_overlap() -> None:
    passage = RetrievedPassage("p", "東京", "東京は日本の首都です。人口は1400万人です。", 1.0, 1)
    ((capital, people),) = features_of("日本の首都は?", (passage,))
    assert capital.overlap == 1.0 > people.overlap
    assert (capital.numbers, people.numbers) == (0.0, 1.0)


@pytest.mark.parametrize("question", ["?", "", "🙂"])
def test_a_question_without_words_overlaps_with_nothing(question: str) -> None:
    for features in features_of(question, (FILM, OTHER))[0]:
        assert (features.overlap, features.weighted_overlap, features.relative_overlap) == (0, 0, 0)


def test_the_sentences_of_a_passage_are_cut_to_those_of_a_prompt() -> None:
    long = replace(FILM, text="Ada wrote.\n" * 1_000)
    *whole, last = sentences_of(long)
    assert set(whole) == {"Ada wrote."}
    assert len(" ".join((*whole, last))) <= 2_000
    assert last == "Ada"


def test_only_sentences_that_reach_the_threshold_are_kept() -> None:
    event, passages = OVERLAP_FILTER.filter(2, "Was The Bell shot?", (FILM, OTHER, EMPTY))
    first, second = features_of("Was The Bell shot?", (FILM, OTHER, EMPTY))[0]
    shot, released = (OVERLAP_FILTER.probability(each) for each in (first, second))
    assert event.passages[0] == FilteredPassage(
        "p1",
        (
            FilteredSentence("The Bell was shot in Rome.", shot, kept=True),
            FilteredSentence("It was released in 1937, after Ada Vale died.", released, kept=False),
        ),
    )
    assert (event.sentence, event.threshold, event.fell_back) == (2, 0.5, False)
    assert passages == (
        replace(FILM, text="The Bell was shot in Rome."),
        replace(OTHER, text="The Clock was released in 1949."),
    )
    assert event.kept_share == 2 / 3


def test_nothing_useful_falls_back_to_the_whole_passages() -> None:
    event, passages = OVERLAP_FILTER.filter(0, "Who composed it?", (OTHER, EMPTY))
    assert event.fell_back
    assert passages == (OTHER, EMPTY)
    assert [each.kept for found in event.passages for each in found.sentences] == [True]
    assert event.kept_share == 1.0


def test_passages_without_sentences_are_passed_on() -> None:
    event, passages = OVERLAP_FILTER.filter(0, ASKED, (EMPTY,))
    assert (event.fell_back, event.passages) == (True, (FilteredPassage("p3", ()),))
    assert passages == (EMPTY,)


def test_a_filter_is_read_as_it_was_written() -> None:
    content = filter_to_json(LEARNED, learned_from={"data set": "lab"})
    read = filter_from_json(content, "filter.json")
    assert replace(read, digest="") == LEARNED
    assert read.digest == json.loads(content)["digest"]


def _changed(**changes: object) -> bytes:
    """Return the content with other fields and the digest of these."""
    document = json.loads(filter_to_json(LEARNED, learned_from={}))
    return json.dumps({**document, **changes}).encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"[]", "must be a JSON object"),
        (_changed(format=2), "is of format 2; this scaar reads 1"),
        (_changed(intercept=0.5), "digest: is .*: the file was changed; fit the filter again"),
        (_changed(digest=None), "digest must be a string, not None"),
        (
            filter_to_json(replace(LEARNED, threshold=0.0), learned_from={}),
            r"threshold must be in \(0, 1\], not 0",
        ),
        (
            filter_to_json(
                replace(LEARNED, weights=(FeatureWeight(0, 0, 0), *LEARNED.weights[1:])),
                learned_from={},
            ),
            "overlap: scale must be above 0, not 0",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_the_field(content: bytes, message: str) -> None:
    with pytest.raises(DataCorrupt, match=f"^filter.json.*{message}"):
        filter_from_json(content, "filter.json")


def test_a_file_with_other_features_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "scaar.core.sentence_filter.filter_json.FEATURES"
    content = filter_to_json(LEARNED, learned_from={})
    monkeypatch.setattr(place, (*FEATURES, "depth"))
    with pytest.raises(DataCorrupt, match=r"features must be overlap, .*depth, not overlap, "):
        filter_from_json(content, "filter.json")


def noisy() -> InMemoryRetriever:
    passages = (
        Passage("p1", "Ada", f"Ada was born in London. {NOISE}"),
        Passage("p2", "Byron", f"{NOISE} Was it so?"),
    )
    return InMemoryRetriever({"lab": passages})


async def test_filco_gives_the_model_the_kept_sentences_only() -> None:
    ports = parts(model(again=AGAIN_ONCE), retriever=noisy())
    events = await ports.events(asking("filco"))
    assert kinds(events)[:4] == [
        "AnswerStarted",
        "QueryBuilt",
        "PassagesRetrieved",
        "PassagesFiltered",
    ]
    (filtered,) = only(PassagesFiltered, events)
    assert filtered.kept_share == 1 / 4
    for request in ports.generator.requests:
        assert "[1] Ada was born in London.\nQuestion:" in request.prompt
        assert NOISE not in request.prompt
    assert [each.accepted.passage_ids for each in only(SentenceAccepted, events)] == [("p1",)] * 2
    answer = answer_in(events)
    assert [each.text for each in answer.passages] == ["Ada was born in London."]
    assert answer.provenance.sentence_filter_digest == "c0ffee"


@pytest.mark.parametrize("policy", ["single_round", "fixed_sentence", "ircot", "flare"])
async def test_every_policy_can_filter_the_sentences_of_its_retrievals(policy: str) -> None:
    ports = parts(UNSURE_OF_PARIS, retriever=noisy())
    events = await ports.events(asking(policy, sentence_filter=SentenceFilter.LEARNED))
    retrieved = kinds(events).count("PassagesRetrieved")
    assert kinds(events).count("PassagesFiltered") == retrieved >= 1
    written = [each.prompt for each in ports.generator.requests if "Context:" in each.prompt]
    assert written
    assert not any(NOISE in each for each in written)


async def test_filco_without_its_filter_is_single_round() -> None:
    def made() -> Parts:
        return parts(model(again=AGAIN_ONCE), retriever=noisy(), sentence_filter=None)

    plain, without = made(), made()
    expected = answer_in(await plain.events(asking("single_round")))
    found = answer_in(await without.events(asking("filco", sentence_filter=SentenceFilter.NONE)))
    assert [each.prompt for each in without.generator.requests] == [
        each.prompt for each in plain.generator.requests
    ]
    assert (found.sentences, found.usage) == (expected.sentences, expected.usage)
    assert found.provenance.sentence_filter_digest == ""


@pytest.mark.parametrize(
    ("policy", "chosen"),
    [("filco", None), ("flare", SentenceFilter.LEARNED), ("ircot", SentenceFilter.LEARNED)],
)
async def test_a_request_for_a_filter_that_is_missing_reaches_no_port(
    policy: str, chosen: SentenceFilter | None
) -> None:
    nothing = Untouchable()
    loop = AdaptiveLoop(Ports(nothing, nothing, nothing, nothing))  # type: ignore[arg-type]
    with pytest.raises(CapabilityMissing) as caught:
        await anext(loop.stream_answer(asking(policy, sentence_filter=chosen)))
    assert caught.value.metadata["missing"] == "sentence_filter_file"
    assert caught.value.message.startswith(f"policy {policy} needs the file of a sentence filter")
    assert "scaar eval filter fit" in caught.value.message


async def test_a_question_with_nothing_useful_is_answered_from_whole_passages() -> None:
    passages = [Passage("p1", "Born", f"{NOISE} He wrote.")]
    retriever = InMemoryRetriever({"lab": passages})
    ports = parts(model(again=AGAIN_ONCE), retriever=retriever)
    events = await ports.events(asking("filco"))
    (filtered,) = only(PassagesFiltered, events)
    assert filtered.fell_back
    assert f"[1] {NOISE} He wrote.\nQuestion: {QUESTION}" in ports.generator.requests[0].prompt
