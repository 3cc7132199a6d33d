"""Commands on dense indexes, with an encoder that knows a few words."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scaar.cli.index.commands import app as index_app
from scaar.cli.main import app as main_app
from scaar.core.errors import CapabilityMissing, InvalidRequest, NotFound
from scaar.testing.english import provide_english, remove_english
from scaar.testing.word_encoder import write_word_encoder

PASSAGES = [
    {"id": "a", "title": "Etna", "text": "a volcano in Italy"},
    {"id": "b", "title": "Fuji", "text": "a volcano in Japan"},
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "passages.jsonl"
    path.write_text("\n".join(map(json.dumps, PASSAGES)))
    return path


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    texts = [f"{each['title']} {each['text']}" for each in PASSAGES]
    return str(write_word_encoder(tmp_path / "words", texts))


@pytest.fixture(autouse=True)
def without_english(monkeypatch: pytest.MonkeyPatch) -> None:
    remove_english(monkeypatch)


def run(*arguments: str) -> str:
    app = index_app if arguments[0] == "index" else main_app
    rest = arguments[1:] if app is index_app else arguments
    result = CliRunner().invoke(app, list(rest), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_dense_index_is_built_searched_and_described(
    home: Path, corpus: Path, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = ("--search", "hnsw", "--hnsw-m", "8", "--hnsw-ef-search", "50")
    run("index", "build", "geo", "--corpus", str(corpus), "--encoder", encoder, *graph)
    output = run("index", "describe", "geo")
    assert "| engine | faiss |\n" in output
    assert "| encoder | words |\n" in output
    assert "| search | hnsw, ip, m 8, ef_construction 200, ef_search 50 |\n" in output
    assert "k1" not in output
    assert "vectors" in run("index", "verify", "geo")
    with pytest.raises(CapabilityMissing, match="needs the encoder words .* has none"):
        run("search", "Japan", "--index", "geo")
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", encoder)
    found = run("search", "Japan", "--index", "geo", "--format", "json").splitlines()
    assert [json.loads(line)["id"] for line in found] == ["b", "a"]
    assert "(0 added, 2 replaced)" in run("index", "add", "geo", "--corpus", str(corpus))
    run("index", "build", "words", "--corpus", str(corpus))
    kinds = [json.loads(line) for line in run("index", "list", "--format", "json").splitlines()]
    assert [each["engine"] for each in kinds] == ["faiss", "bm25s"]
    assert kinds[0]["content"] == kinds[1]["content"]
    run("index", "build", "near", "--corpus", str(corpus), "--metric", "l2")
    described = json.loads(run("index", "describe", "near", "--format", "json"))
    assert described["dense"]["settings"] == {"metric": "l2", "hnsw": None, "words": False}


def test_a_hybrid_index_is_built_described_and_searched_in_each_mode(
    home: Path, corpus: Path, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", encoder)
    run("index", "build", "geo", "--corpus", str(corpus), "--hybrid")
    output = run("index", "describe", "geo")
    assert "| engine | bm25s+faiss |\n" in output
    assert "| search | exact, ip, with words |\n" in output
    assert "| modes | words, vectors, hybrid |\n" in output
    assert "| k1 | 0.9 |\n" in output
    assert "vectors" in run("index", "verify", "geo")
    options = ("Japan", "--index", "geo", "--format", "json")
    ids = {}
    for mode in ("words", "vectors", "hybrid", "index"):
        lines = run("search", *options, "--mode", mode).splitlines()
        found = [json.loads(line) for line in lines]
        ids[mode] = [each["id"] for each in found]
        assert ("score_parts" not in found[0]) == (mode in ("words", "vectors"))
    assert ids == {"words": ["b"], "vectors": ["b", "a"], "hybrid": ["b", "a"], "index": ["b", "a"]}
    weighted = ("--rrf-k", "1", "--weights", "3,0.5", "--candidates", "1")
    (best,) = map(json.loads, run("search", *options, "--top-k", "1", *weighted).splitlines())
    assert best["score"] == 3 / 2 + 0.5 / 2
    assert best["score_parts"]["words"]["rank"] == best["score_parts"]["vectors"]["rank"] == 1
    shown = run("search", "Japan", "--index", "geo", "--top-k", "1", "--format", "table")
    assert "words 1 (" in shown
    assert "fused 1 (0.03279)" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--weights", "1"), "--weights: must be two numbers, not '1'"),
        (("--weights", "1,0"), r"hybrid.vectors_weight: must be in \(0, 1000\], not 0"),
        (("--mode", "words", "--rrf-k", "5"), "hybrid: has no effect with mode words"),
        (("--rerank-depth", "5"), "--rerank-depth: requires --rerank"),
        (("--rerank", "--rerank-depth", "101"), "rerank.depth: must be 1 to 100, not 101"),
    ],
)
def test_wrong_stages_of_a_search_are_refused(
    home: Path, options: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        run("search", "Japan", *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--hnsw-m", "8"), "--hnsw-m: requires --search hnsw"),
        (
            ("--search", "exact", "--hnsw-ef-search", "8"),
            "--hnsw-ef-search: requires --search hnsw",
        ),
    ],
)
def test_hnsw_settings_require_hnsw(
    home: Path, corpus: Path, options: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        run("index", "build", "geo", "--corpus", str(corpus), *options)
    assert not home.exists()


def test_without_an_encoder_that_of_scaar_english_makes_the_vectors(
    home: Path, corpus: Path, encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provide_english(monkeypatch, Path(encoder))
    run("index", "build", "geo", "--corpus", str(corpus), "--hybrid")
    assert "| encoder | words |\n" in run("index", "describe", "geo")
    options = ("Japan", "--index", "geo", "--format", "json")
    found = run("search", *options).splitlines()
    assert [json.loads(line)["id"] for line in found] == ["b", "a"]
    other = write_word_encoder(tmp_path / "other", ["none of them"])
    provide_english(monkeypatch, other)
    with pytest.raises(CapabilityMissing, match="needs the encoder words .* has other"):
        run("search", *options)
    assert "1 of 1 passage deleted" in run("index", "delete", "geo", "a")
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", encoder)
    assert len(run("search", *options).splitlines()) == 1


def test_indexes_of_words_do_not_open_the_encoder_of_scaar_english(
    home: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provide_english(monkeypatch, Path("nowhere"))
    run("index", "build", "geo", "--corpus", str(corpus))
    assert run("search", "Japan", "--index", "geo", "--format", "json")
    with pytest.raises(NotFound, match="nowhere does not exist"):
        run("index", "build", "near", "--corpus", str(corpus), "--hybrid")


def test_an_index_of_the_lab_has_no_default_encoder(
    home: Path, corpus: Path, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provide_english(monkeypatch, Path(encoder))
    message = "needs an encoder: set --encoder or SCAAR_RETRIEVER_ENCODER to an encoder's folder"
    with pytest.raises(CapabilityMissing, match=message):
        run("index", "build", "lab-7", "--corpus", str(corpus), "--hybrid")


def test_vectors_without_an_encoder_or_its_folder_are_refused(home: Path, corpus: Path) -> None:
    build = ("index", "build", "geo", "--corpus", str(corpus))
    message = "needs an encoder: install scaar-english, or set --encoder or SCAAR_RETRIEVER_ENCODER"
    with pytest.raises(CapabilityMissing, match=message):
        run(*build, "--search", "exact")
    with pytest.raises(NotFound, match="nowhere does not exist"):
        run(*build, "--encoder", "nowhere")


def test_a_running_retriever_takes_its_own_encoder(home: Path, corpus: Path) -> None:
    with pytest.raises(InvalidRequest, match="--encoder: is the running retriever's own at dns:"):
        run(
            *("index", "build", "geo", "--corpus", str(corpus), "--encoder", "words"),
            *("--address", "dns:///127.0.0.1:9"),
        )
    with pytest.raises(InvalidRequest, match="leave the option out; --hybrid, --search or"):
        run(*("search", "Japan", "--encoder", "words", "--address", "dns:///127.0.0.1:9"))


def test_a_text_without_tokens_does_not_fail_the_others(home: Path, tmp_path: Path) -> None:
    encoder = write_word_encoder(tmp_path / "words", ["a volcano in Japan"])
    tokenizer = json.loads((encoder / "tokenizer.json").read_text())
    tokenizer["normalizer"] = {"type": "Replace", "pattern": {"String": "!"}, "content": ""}
    (encoder / "tokenizer.json").write_text(json.dumps(tokenizer))
    corpus = tmp_path / "passages.jsonl"
    corpus.write_text('{"id": "a", "text": "!!!"}\n{"id": "b", "text": "a volcano"}\n')
    run("index", "build", "geo", "--corpus", str(corpus), "--encoder", str(encoder))
    options = ("--index", "geo", "--encoder", str(encoder), "--format", "json")
    found = run("search", "volcano", *options).splitlines()
    assert [json.loads(line)["id"] for line in found] == ["b", "a"]
    assert len(run("search", "!", *options).splitlines()) == 2
