"""``scaar corpus count`` and ``lookup``, and an orchestrator with the file that they write."""

import gzip
import json
from pathlib import Path

import pytest

from scaar.compose.loop import build_loop, open_files
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import AnswerRequest, AnswerStarted, PolicyRequest
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.commands import run_scaar
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

TEXTS = [
    {"id": "1", "title": "Ada Lovelace", "text": "Ada Lovelace was born in London."},
    {"id": "2", "title": "Byron", "text": "Lord Byron met ADA LOVELACE's mother in London."},
]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, TEXTS)).encode()))
    return path


@pytest.fixture
def counts(texts: Path, tmp_path: Path) -> Path:
    more = tmp_path / "more.tsv"
    more.write_text("id\ttext\ttitle\n1\tParis\tAda Lovelace\n")
    out = tmp_path / "corpus.counts"
    ran = run_scaar("corpus", "count", str(texts), str(more), "--out", str(out))
    assert ran.status == 0, ran.err
    assert ran.out.startswith(f"{out}: 21 words, 12 different, in 3 texts, sha256 "), ran.out
    assert f"SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE={out}" in ran.err
    return out


def test_titles_and_texts_of_all_files_are_counted(counts: Path) -> None:
    found = run_scaar(
        *("corpus", "lookup", str(counts), "Ada Lovelace", "london", "--format", "json")
    )
    assert found.status == 0, found.err
    (record,) = found.records
    assert record == {
        "entity": "Ada Lovelace",
        "count": 4,
        "other": "london",
        "other_count": 2,
        "together": 3,
        "window": 1000,
    }
    near = run_scaar(
        *("corpus", "lookup", str(counts), "Ada Lovelace", "London"),
        *("--window", "5", "--format", "json"),
    )
    assert near.records[0]["together"] == 2
    table = run_scaar("corpus", "lookup", str(counts), "Lord Byron")
    assert "| Lord Byron | 1 |" in table.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "PATH: name a file of texts, or a model of the lab with --lab"),
        (("missing.jsonl",), "PATH: missing.jsonl does not exist"),
        (("--lab", "gpt"), "--lab: there is no model 'gpt'; known: lab-lm, lab-lm-b"),
    ],
)
def test_what_cannot_be_counted_is_named_before_anything_is_written(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    out = tmp_path / "corpus.counts"
    ran = run_scaar("corpus", "count", *arguments, "--out", str(out))
    assert ran.status == 2
    assert message in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_not_replaced(counts: Path, texts: Path) -> None:
    before = counts.read_bytes()
    ran = run_scaar("corpus", "count", str(texts), "--out", str(counts))
    assert ran.status == 2
    assert f"--out: {counts} already exists" in ran.err
    assert counts.read_bytes() == before


def test_a_wrong_line_leaves_no_file(tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.jsonl", tmp_path / "corpus.counts"
    texts.write_text(json.dumps(TEXTS[0]) + "\nno JSON\n")
    ran = run_scaar("corpus", "count", str(texts), "--out", str(out))
    assert ran.status == 2
    assert "texts.jsonl line 2: is not JSON" in ran.err
    assert list(tmp_path.iterdir()) == [texts]


@pytest.mark.parametrize("window", ["0", "1000001"])
def test_a_window_out_of_range_is_refused(counts: Path, window: str) -> None:
    ran = run_scaar("corpus", "lookup", str(counts), "Ada", "Byron", "--window", window)
    assert ran.status == 2
    assert "--window: must be 1 to 1,000,000" in ran.err


def test_a_file_without_counts_is_refused(texts: Path) -> None:
    ran = run_scaar("corpus", "lookup", str(texts), "Ada")
    assert ran.status == 1
    assert "is no file of corpus counts: write one with scaar corpus count" in ran.err


def ports() -> Ports:
    return Ports(
        ScriptedGenerator(lambda request: []),
        ScriptedScorer({}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": ()}),
    )


def loop_of(settings: OrchestratorSettings) -> AdaptiveLoop:
    return build_loop(ports(), settings, files=open_files(settings))


async def test_an_orchestrator_answers_with_the_file_of_its_settings(counts: Path) -> None:
    loop = loop_of(OrchestratorSettings(corpus_counts_file=counts))
    request = AnswerRequest("Where was Ada Lovelace born?", PolicyRequest("quco"))
    started = await anext(loop.stream_answer(request))
    assert isinstance(started, AnswerStarted)
    header = json.loads(counts.read_bytes().partition(b"\n")[0])
    assert started.provenance.corpus_counts_digest == header["sha256"]
    with pytest.raises(CapabilityMissing, match="needs a file of corpus counts"):
        await anext(loop_of(OrchestratorSettings()).stream_answer(request))


def test_a_missing_or_damaged_file_is_an_error_at_start(counts: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"CORPUS_COUNTS_FILE: .*none\.counts cannot be read"):
        loop_of(OrchestratorSettings(corpus_counts_file=tmp_path / "none.counts"))
    damaged = tmp_path / "damaged.counts"
    damaged.write_bytes(counts.read_bytes()[:-1])
    with pytest.raises(InvalidRequest, match=r"CORPUS_COUNTS_FILE: .*damaged\.counts: is damaged"):
        loop_of(OrchestratorSettings(corpus_counts_file=damaged))


def test_a_second_policy_by_counts_needs_the_file_at_start(counts: Path) -> None:
    with pytest.raises(InvalidRequest, match="needs corpus_counts_file"):
        loop_of(OrchestratorSettings(shadow_policy="quco"))
    loop_of(OrchestratorSettings(shadow_policy="quco", corpus_counts_file=counts))
