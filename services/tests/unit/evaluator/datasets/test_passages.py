"""Data sets that bring passages give them once a title, with the ids that their supports name."""

import json
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.datasets.corpora import open_passages
from scaar.evaluator.datasets.loader import open_dataset
from scaar.retriever.validation import passage_violations

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("hotpotqa", "hotpotqa.json"),
        ("hotpotqa", "hotpotqa_hf.jsonl"),
        ("2wikimultihopqa", "2wikimultihopqa.json"),
    ],
)
def test_contexts_are_pooled_and_hold_every_support(name: str, file: str) -> None:
    passages = list(open_passages(name, FIXTURES / file))
    ids = [passage.id for passage in passages]
    assert len(set(ids)) == len(ids) == 20
    assert all(
        passage.id == passage.title and not passage_violations(passage) for passage in passages
    )
    for question in open_dataset(name, FIXTURES / file).questions:
        assert set(question.supports) <= set(ids)
    texts = {passage.title: passage.text for passage in passages}
    assert texts["Salt Road"] == "Salt Road is a film of 1975. It was directed by Mirja Holt."


def test_the_first_text_of_a_title_is_kept_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    context = [["Etna", ["One."]], ["Etna", ["Two."]], ["", ["None."]], ["Fuji", [" ", ""]]]
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([{"context": context}]))
    (passage,) = open_passages("hotpotqa", path)
    assert (passage.title, passage.text) == ("Etna", "One.")


@pytest.mark.parametrize(
    ("name", "file", "count"), [("musique", "musique.jsonl", 21), ("flashrag", "hotpot.jsonl", 17)]
)
def test_passages_of_other_layouts_have_every_support(
    name: str, file: str, count: int, tmp_path: Path
) -> None:
    # The first seven records of FlashRAG's fixture are HotpotQA's, which have paragraphs.
    lines = (FIXTURES / "flashrag.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "hotpot.jsonl").write_text("".join(lines[:7]))
    path = FIXTURES / file if (FIXTURES / file).exists() else tmp_path / file
    passages = list(open_passages(name, path))
    ids = {passage.id for passage in passages}
    assert len(ids) == len(passages) == count
    for question in open_dataset(name, path).questions:
        assert question.supports
        assert set(question.supports) <= ids


def test_paragraphs_of_musique_with_one_title_are_passages_of_their_own() -> None:
    texts = [
        passage.text
        for passage in open_passages("musique", FIXTURES / "musique.jsonl")
        if passage.title == "Ansa Velder"
    ]
    assert len(texts) == 2


def test_retrievalqas_passages_may_be_without_a_title() -> None:
    passages = list(open_passages("retrievalqa", FIXTURES / "retrievalqa.jsonl"))
    assert not any(passage_violations(passage) for passage in passages)
    assert "A text without a title." in {each.text for each in passages if not each.title}


def test_iircs_passages_are_its_articles_without_their_markup() -> None:
    passages = list(open_passages("iirc", FIXTURES / "iirc_context_articles.json"))
    assert [(passage.id, passage.text) for passage in passages] == [
        ("norrevik", "Norrevik is a club of Nordland & the coast."),
        ("karsund", "Karsund is a club of Sudland."),
        ("count venz", "Count Venz was born in Ashtorn."),
    ]


def test_iircs_questions_are_not_taken_for_its_articles() -> None:
    with pytest.raises(InvalidRequest, match="must be an object that maps titles to articles"):
        list(open_passages("iirc", FIXTURES / "iirc.json"))


def test_the_labs_passages_hold_every_support() -> None:
    ids = {passage.id for passage in open_passages("lab", seed=2001)}
    for question in open_dataset("lab", seed=2001, count=40).questions:
        assert set(question.supports) <= ids


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.passages is None])
def test_a_data_set_without_passages_says_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=f"dataset: {name} has no passages; these have"):
        open_passages(name, tmp_path)


def test_a_file_without_contexts_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="jsonl.jsonl record 1, context: is missing"):
        list(open_passages("hotpotqa", FIXTURES / "jsonl.jsonl"))
    bare = tmp_path / "bare.json"
    bare.write_text("{}")
    with pytest.raises(InvalidRequest, match="bare.json contains no passage"):
        list(open_passages("iirc", bare))
