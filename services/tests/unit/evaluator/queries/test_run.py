"""A run over drafts: what is asked, kept and gone on with."""

import pytest

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.queries import build_query
from scaar.core.text.words import split_words
from scaar.core.types import (
    JudgedWord,
    Passage,
    QueryRequest,
    QuerySettings,
    ScorerDescription,
    ScoreRequest,
)
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.studies.queries.drafts import Draft, DraftOrigin
from scaar.evaluator.studies.queries.formulations import plan_formulations
from scaar.evaluator.studies.queries.records import QueryEvaluation
from scaar.evaluator.studies.queries.report import write_query_report
from scaar.evaluator.studies.queries.retrieval import Ports
from scaar.evaluator.studies.queries.run import QueryRun, run_queries
from scaar.evaluator.studies.queries.store import read_queries
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.scorer.controls.idf import open_idf_scorer
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings

COLOURS = "crimson amber violet scarlet ochre indigo".split()
QUESTIONS = tuple(
    Question(
        f"q{n}", f"Who made the {each} film?", ("Ann",), f"q{n}", supports=(f"film-{n}", f"by-{n}")
    )
    for n, each in enumerate(COLOURS)
)
DRAFTS = {
    f"q{n}": Draft(
        f"q{n}",
        (
            f"The {each} film was made by Maker{n}.",
            f" Maker{n} was born in town.",
            " The answer is A.",
        ),
    )
    for n, each in enumerate(COLOURS)
}
VARIANTS = plan_formulations(
    ["question", "current_sentence", "last_sentence", "question+pfq"], [50], [None]
)


async def passages():
    for n, each in enumerate(COLOURS):
        yield Passage(f"film-{n}", f"The {each} film", f"The {each} film is a film.")
        yield Passage(f"by-{n}", f"Maker{n}", f"Maker{n} was born in a town.")


class Counting:
    """A scorer that counts its sentences, and fails at a chosen one."""

    def __init__(self, scorer):
        self.scorer, self.scored, self.fails_at = scorer, [], None

    async def score_contributions(self, requests):
        self.scored += [(each.question, each.words) for each in requests]
        if len(self.scored) == self.fails_at:
            raise BackendUnavailable("gone")
        return await self.scorer.score_contributions(requests)


@pytest.fixture
async def run(tmp_path):
    settings = RetrieverSettings(indexes=tmp_path / "indexes")
    async with open_retriever(settings) as retriever, open_idf_scorer() as idf:
        built = await retriever.index_passages("films", passages())
        ports = Ports({None: Counting(idf)}, retriever, "films", built.index.version)
        yield QueryRun(ports, 2)


def evaluation(**changes):
    return QueryEvaluation(
        **{
            "scaar": "1",
            "created": "2026-01-01",
            "dataset": DatasetOrigin("jsonl", "q.jsonl", 0, len(QUESTIONS), "c"),
            "drafts": DraftOrigin("d.jsonl", "draft", "s"),
            "variants": VARIANTS,
            "scorers": {"none": ScorerDescription("idf", "1", "wordfreq", 0)},
            "index": "films",
            "index_version": "v",
            "passages": 12,
            **changes,
        }
    )


async def test_every_sentence_is_retrieved_for_by_every_formulation(run, tmp_path):
    found = await run_queries(run, tmp_path / "out", evaluation(), QUESTIONS, DRAFTS)
    assert [each.question_id for each in found.records] == [each.id for each in QUESTIONS]
    first = found.records[0].retrievals
    assert {label: [each.sentence for each in some] for label, some in first.items()} == {
        each.label: [0, 1] for each in VARIANTS
    }
    assert [each.query for each in first["current_sentence"]] == [
        "The crimson film was made by Maker0.",
        "Maker0 was born in town.",
    ]
    assert [each.query for each in first["last_sentence"]] == [
        QUESTIONS[0].question,  # before the first sentence stands none
        "The crimson film was made by Maker0.",
    ]
    # film-0 is found by its colour; its maker by the name, which the question does not have.
    assert first["question"][0].readings[0].ranks[0] == 1
    assert first["current_sentence"][1].readings[0].ranks[1] == 1


async def test_a_query_is_what_the_query_builder_makes_of_the_scorers_contributions(run, tmp_path):
    found = await run_queries(run, tmp_path / "out", evaluation(), QUESTIONS[:1], DRAFTS)
    sentence = DRAFTS["q0"].sentences[0]
    scorer = run.ports.scorers[None]
    words = split_words(sentence)
    request = ScoreRequest(QUESTIONS[0].question, tuple(each.text for each in words))
    (message,) = await scorer.score_contributions([request])
    judged = tuple(
        JudgedWord(each.text, each.start, each.end, None, 0.0, False, r)
        for each, r in zip(words, message, strict=True)
    )
    settings = QuerySettings("pfq", include_question=True, alpha=50)
    expected = build_query(QueryRequest(QUESTIONS[0].question, settings, judged)).text
    assert found.records[0].retrievals["question+pfq:alpha=50"][0].query == expected


async def test_an_interrupted_run_resumes_without_repeating_questions(run, tmp_path):
    scorer, folder = run.ports.scorers[None], tmp_path / "out"
    scorer.fails_at = 7
    with pytest.raises(BackendUnavailable, match="gone"):
        await run_queries(run, folder, evaluation(), QUESTIONS, DRAFTS)
    kept = read_queries(folder).records
    assert 0 < len(kept) < len(QUESTIONS)
    scorer.fails_at, scorer.scored = None, []
    whole = await run_queries(run, folder, evaluation(created="later"), QUESTIONS, DRAFTS)
    assert len(whole.records) == len(QUESTIONS)
    scored_again = {question for question, _ in scorer.scored}
    done = {each.question_id for each in kept}
    assert scored_again == {each.question for each in QUESTIONS if each.id not in done}
    await run_queries(run, folder, evaluation(), QUESTIONS, DRAFTS)
    assert len(scorer.scored) == 2 * (len(QUESTIONS) - len(kept))


async def test_the_same_run_gives_the_same_bytes_however_it_came(run, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    scorer = run.ports.scorers[None]
    scorer.fails_at = 5
    with pytest.raises(BackendUnavailable):
        await run_queries(run, broken, evaluation(), QUESTIONS, DRAFTS)
    scorer.fails_at = None
    for folder in (whole, broken):
        results = await run_queries(run, folder, evaluation(), QUESTIONS, DRAFTS)
        write_query_report(results, folder, resamples=50)
    for name in ("retrievals.jsonl", "report.md", "report.json", "tables/by_retrieval.csv"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"index_version": "w"}, "index_version is 'v' in the stored one and 'w' now"),
        ({"drafts": DraftOrigin("d.jsonl", "draft", "t")}, "drafts.sha256"),
        ({"variants": VARIANTS[:2]}, "variants"),
    ],
)
async def test_a_folder_of_another_run_is_refused(run, tmp_path, change, said):
    await run_queries(run, tmp_path / "out", evaluation(), QUESTIONS, DRAFTS)
    before = read_queries(tmp_path / "out")
    with pytest.raises(InvalidRequest, match=said):
        await run_queries(run, tmp_path / "out", evaluation(**change), QUESTIONS, DRAFTS)
    assert read_queries(tmp_path / "out") == before


async def test_a_folder_of_other_things_is_refused(run, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidRequest, match=r"notes\.txt|indexes"):
        await run_queries(run, tmp_path, evaluation(), QUESTIONS, DRAFTS)


async def test_a_sentence_that_the_scorer_does_not_take_finds_nothing_by_it(
    run, tmp_path, cross_encoder_folder
):
    long, short = "x" * 200, " The violet film was made by Maker2."
    drafts = {**DRAFTS, "q2": Draft("q2", (long, short))}
    async with open_scorer(ScorerSettings(model=cross_encoder_folder, threads=1)) as scorer:
        run.ports.scorers[None] = scorer
        found = await run_queries(run, tmp_path / "out", evaluation(), QUESTIONS, drafts)
    refused, taken = found.records[2].retrievals["question+pfq:alpha=50"]
    assert (refused.query, refused.readings[-1].ranks) == ("", (0, 0))
    assert "pairs of 96 tokens" in refused.refused
    assert taken.readings[0].ranks[0] == 1
    assert [question for question, _ in found.refused] == ["q2"]
    report = write_query_report(found, tmp_path / "out", resamples=20)
    assert "refused 1 sentence, for which pfq finds nothing" in report.sections[0].items[0]
