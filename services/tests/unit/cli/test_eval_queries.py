"""``scaar eval queries`` end to end: an index, questions, drafts, no language model."""

import csv
import json

import pytest

from scaar.testing.commands import run_scaar

MAKERS = {"crimson": "Ann", "amber": "Bob", "violet": "Cid", "ochre": "Dot"}


def lines(path, records):
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


@pytest.fixture
def world(home, tmp_path, monkeypatch):
    """Films and their makers, indexed; questions with supports; what was written to them."""
    monkeypatch.setenv("SCAAR_SCORER_CONTROL", "idf")
    films = [
        {"id": f"film-{each}", "title": f"The {each} film", "text": f"A film by {maker}."}
        for each, maker in MAKERS.items()
    ]
    makers = [{"id": f"by-{m}", "title": m, "text": f"{m} is a maker."} for m in MAKERS.values()]
    corpus = lines(tmp_path / "passages.jsonl", films + makers)
    assert run_scaar("index", "build", "films", "--corpus", str(corpus)).status == 0
    lines(
        tmp_path / "questions.jsonl",
        [
            {
                "id": each,
                "question": f"Who made the {each} film?",
                "answers": [maker],
                "supports": [f"film-{each}", f"by-{maker}"],
                "thoughts": f"The {each} film was made by {maker}. So the answer is: {maker}.",
            }
            for each, maker in MAKERS.items()
        ],
    )
    return tmp_path


def queries(world, *options, **others):
    given = {
        "--dataset": f"jsonl:{world / 'questions.jsonl'}",
        "--drafts": str(world / "questions.jsonl"),
        "--draft-field": "thoughts",
        "--index": "films",
        "--out": str(world / "out"),
        **{f"--{name.replace('_', '-')}": str(value) for name, value in others.items()},
    }
    return run_scaar("eval", "queries", *(x for pair in given.items() for x in pair), *options)


def test_formulations_are_compared_in_a_table_and_stored(world):
    ran = queries(world)
    assert ran.status == 0, ran.err
    table = ran.out.splitlines()
    assert table[0].startswith(
        "| formulation | new supports per answer at 3 | new supports per answer at 5 |"
    )
    assert [line.split(" | ")[0] for line in table[2:5]] == [
        "| question",
        "| current_sentence",
        "| last_sentence",
    ]
    report = (world / "out/report.md").read_text()
    assert "The drafts have no probabilities" in report
    assert "wordfreq+idf" in report
    with (world / "out/tables/by_retrieval.csv").open() as file:
        rows = {row["formulation"]: row for row in csv.DictReader(file)}
    # The question does not know the maker's name, the sentence does.
    assert float(rows["question"]["recall@3"]) == 0.5
    assert float(rows["current_sentence"]["recall@3"]) == 1.0
    document = json.loads((world / "out/report.json").read_text())
    assert "tables/differences.csv" in document["files"]


def test_the_same_command_resumes_with_the_same_result(world):
    first = queries(world)
    report = (world / "out/report.md").read_bytes()
    again = queries(world)
    assert again.out == first.out
    assert "4 of 4 questions exist, resuming" in again.err
    assert (world / "out/report.md").read_bytes() == report


def test_exclusion_is_an_axis_with_a_control(world):
    ran = queries(
        world,
        formulations="question+pfq,question+fused",
        alpha="50",
        exclude_seen="none,seen,matched_depth",
        extra="2",
    )
    assert ran.status == 0, ran.err
    labels = [line.split(" | ")[0].removeprefix("| ") for line in ran.out.splitlines()[2:]]
    assert labels == [
        f"question+{name}:alpha=50{exclusion}"
        for name in ("pfq", "fused")
        for exclusion in ("", ",exclude_seen=seen", ",exclude_seen=matched_depth", ",extra=2")
    ]
    document = json.loads((world / "out/report.json").read_text())
    assert {"tables/exclusion.csv", "tables/withheld.csv"} <= set(document["files"])


def test_some_formulations_at_some_alphas_for_some_questions(world):
    ran = queries(world, formulations="question,pfq", alpha="30", limit=2, seed=3)
    assert ran.status == 0, ran.err
    assert len(ran.out.splitlines()) == 4
    assert "2 questions" in ran.err


def draftless(world):
    return lines(world / "drafts.jsonl", [{"id": "amber", "draft": "It was Bob."}])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"formulations": "question,attention"}, ["--formulations", "attention", "known"]),
        ({"alpha": "half"}, ["--alpha", "must be numbers"]),
        ({"alpha": "150"}, ["--alpha", "at most 100"]),
        ({"reference": "pfq"}, ["--reference", "there is no 'pfq'"]),
        ({"scorer": "best"}, ["--scorer", "best"]),
        (
            {"formulations": "question,last_sentence", "alpha": "30", "scorer": "idf"},
            ["--alpha: has no effect on question,last_sentence", "--scorer: has no effect"],
        ),
        ({"extra": "some"}, ["--extra", "must be numbers"]),
        ({"exclude_seen": "unhelpful"}, ["--exclude-seen", "seen, matched_depth", "unhelpful"]),
        ({"draft_field": "chain"}, ["chain", "--draft-field", "thoughts"]),
        ({"dataset": "lab:x"}, ["--dataset"]),
    ],
)
def test_a_wrong_option_is_reported_before_any_work(world, options, said):
    ran = queries(world, **options)
    assert ran.status == 2
    for each in said:
        assert each in ran.err
    assert "Traceback" not in ran.err
    assert not (world / "out").exists()


def test_drafts_of_other_questions_are_refused(world):
    ran = queries(world, drafts=draftless(world), draft_field="draft")
    assert ran.status == 2
    assert "has no draft of 'crimson', 'violet', 'ochre' (3 of 4 questions)" in ran.err


def test_questions_without_supports_are_refused(world):
    plain = lines(world / "plain.jsonl", [{"id": "amber", "question": "Who?", "answers": ["Bob"]}])
    ran = queries(world, dataset=f"jsonl:{plain}", drafts=draftless(world), draft_field="draft")
    assert ran.status == 2
    assert "--dataset" in ran.err
    assert "1 of 1 questions have no supports, the first 'amber'" in ran.err


def test_an_index_of_other_passages_is_refused_by_the_first_id(world):
    corpus = lines(world / "others.jsonl", [{"id": "film-amber", "text": "The amber film."}])
    assert run_scaar("index", "build", "others", "--corpus", str(corpus)).status == 0
    ran = queries(world, index="others")
    assert ran.status == 2
    assert "'others' lacks 7 of the 8 supports" in ran.err
    assert "'film-crimson'" in ran.err
    assert not (world / "out").exists()


def test_an_unknown_index_is_named(world):
    ran = queries(world, index="nowhere")
    assert ran.status == 1
    assert "nowhere" in ran.err


def test_a_folder_of_another_run_is_refused(world):
    assert queries(world).status == 0
    ran = queries(world, alpha="10")
    assert ran.status == 2
    assert "--out" in ran.err
    assert "another run" in ran.err
