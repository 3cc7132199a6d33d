import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from scaar.cli.eval.commands import app
from scaar.cli.index.commands import app as index_app
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.testing.word_encoder import write_word_encoder

# Anserini's figures: BM25, k1 0.9, b 0.4. bm25s does not round the lengths of passages as Lucene
# does, and its English analysis differs in a few words.
NFCORPUS = {"nDCG@10": 0.3218, "R@100": 0.2457}
CACM = {"AP": 0.3123, "P@30": 0.1942}
TOLERANCE = 0.002


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["retrieval", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def means(result: Result) -> dict[str, float]:
    rows = map(json.loads, result.stdout.splitlines())
    return {row["measure"]: row["mean"] for row in rows}


def build(name: str, corpus: Path, *options: str) -> None:
    arguments = ["build", name, "--corpus", str(corpus), *options]
    assert CliRunner().invoke(index_app, arguments).exit_code == 0


@pytest.fixture
def collection(home: Path, tmp_path: Path) -> Path:
    """A collection of three passages in BEIR's layout, with its index geo."""
    folder = tmp_path / "geo"
    (folder / "qrels").mkdir(parents=True)
    passages = {"a": "Etna is a volcano.", "b": "A river.", "c": "The volcano Fuji, a volcano."}
    lines = (json.dumps({"_id": key, "text": text}) for key, text in passages.items())
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    (folder / "queries.jsonl").write_text(
        '{"_id": "1", "text": "volcano"}\n{"_id": "2", "text": "rivers"}\n'
        '{"_id": "3", "text": "lake"}\n{"_id": "4", "text": "sea"}\n'
    )
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t1\n3\tb\t1\n"
    )
    build("geo", folder / "corpus.jsonl")
    return folder


def test_the_modes_of_a_hybrid_index_are_measured(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ("Etna is a volcano.", "A river.", "The volcano Fuji, a volcano.", "rivers lake")
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", str(write_word_encoder(tmp_path / "w", texts)))
    build("both", collection / "corpus.jsonl", "--hybrid")
    options = ("--dataset", f"beir:{collection}", "--measures", "RR", "--format", "json")
    words = means(run(*options, "--index", "geo"))
    assert means(run(*options, "--index", "both", "--mode", "words")) == words
    assert means(run(*options, "--index", "both", "--mode", "hybrid", "--rrf-k", "1")).keys()
    assert means(run(*options, "--index", "both", "--depth", "100")).keys() == words.keys()
    with pytest.raises(InvalidRequest, match="must be at most 100 for a hybrid or reranked"):
        run(*options, "--index", "both", "--depth", "101")
    with pytest.raises(CapabilityMissing, match="'geo' cannot be searched in mode vectors"):
        run(*options, "--index", "geo", "--mode", "vectors")


def test_a_collection_of_beir_is_measured_and_its_rankings_are_written(
    collection: Path, tmp_path: Path
) -> None:
    written = tmp_path / "geo.run"
    result = run(
        *("--dataset", f"beir:{collection}", "--index", "geo", "--measures", "RR,R@1"),
        *("--format", "json", "--run", str(written)),
    )
    # The second passage, the first, none.
    assert means(result) == {"RR": pytest.approx((1 / 2 + 1 + 0) / 3), "R@1": pytest.approx(1 / 3)}
    assert "3 queries on geo (3 passages, version " in result.stderr
    assert "1 without judgements left out" in result.stderr
    ranked = [line.split()[:4] for line in written.read_text().splitlines()]
    assert ranked == [["1", "Q0", "c", "1"], ["1", "Q0", "a", "2"], ["2", "Q0", "b", "1"]]


def test_topics_and_judgements_of_trec_give_the_same_values(
    collection: Path, tmp_path: Path
) -> None:
    (tmp_path / "topics.tsv").write_text("1\tvolcano\n2\trivers\n3\tlake\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 b 1\n3 0 b 1\n")
    given = ("--index", "geo", "--format", "json")
    trec = ("--dataset", f"trec:{tmp_path / 'topics.tsv'}", "--qrels", str(tmp_path / "qrels.txt"))
    assert means(run(*trec, *given)) == means(run("--dataset", f"beir:{collection}", *given))


def test_questions_with_supports_are_measured_on_the_index_of_their_passages(
    collection: Path, tmp_path: Path
) -> None:
    record = {"id": "1", "question": "Which volcano?", "answers": ["Etna"], "supports": ["a"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(record))
    result = run(
        *("--dataset", f"jsonl:{tmp_path / 'questions.jsonl'}", "--index", "geo"),
        *("--measures", "RR", "--format", "markdown"),
    )
    assert result.stdout.splitlines()[2] == "| RR | 0.5000 [0.5000, 0.5000] |"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--dataset", "beir"], "--dataset: must name the path of the collection: beir:PATH"),
        (["--dataset", "trec:topics"], "--qrels: is required by trec"),
        (["--dataset", "beir:geo", "--qrels", "q"], "--qrels: is not taken by beir"),
        (["--dataset", "beir:geo", "--limit", "3"], "--limit: is not taken by beir"),
        (["--dataset", "beir:geo", "--depth", "1001"], "--depth: must be 1 to 1,000, not 1,001"),
        (["--dataset", "beir:geo", "--measures", "F1"], "--measures: 'F1' is not a measure of ir"),
    ],
)
def test_a_wrong_option_is_named_before_any_work(arguments: list[str], expected: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        CliRunner().invoke(app, ["retrieval", *arguments], catch_exceptions=False)
    assert caught.value.message.startswith(expected)


def test_an_index_is_required_where_the_data_set_has_none(collection: Path) -> None:
    with pytest.raises(InvalidRequest, match="--index: is required"):
        run("--dataset", f"beir:{collection}")


def test_a_missing_library_is_reported_with_its_extra(
    collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(CapabilityMissing, match=r"install scaar\[ir-measures\]"):
        run("--dataset", f"beir:{collection}", "--index", "geo")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "options", "published"),
    [
        ("nfcorpus", ("--ignore-metadata",), NFCORPUS),
        # The texts contain their titles, and one has a control character.
        ("cacm", ("--ignore-titles", "--clean"), CACM),
    ],
)
def test_published_values_of_bm25_are_reproduced(
    name: str, options: tuple[str, ...], published: dict[str, float], home: Path, real_data: Path
) -> None:
    build(name, real_data / name / "corpus.jsonl.gz", *options)
    result = run(
        *("--dataset", f"beir:{real_data / name}", "--index", name, "--format", "json"),
        *("--measures", ",".join(published)),
    )
    assert means(result) == pytest.approx(published, abs=TOLERANCE)
