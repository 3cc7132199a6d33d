import asyncio
import json
import re
from pathlib import Path

import pytest

from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.database.stored_results import store_study
from scaar.evaluator.store.studies import StoredStudy
from scaar.evaluator.studies.longtail.folder import LABELLING, LABELS
from scaar.evaluator.studies.longtail.frequencies import corpus_frequencies
from scaar.evaluator.studies.longtail.records import Label, Labelling, Parts
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.retriever.corpus.corpus import CorpusFile
from scaar.testing.commands import run_scaar

LABEL = ("eval", "longtail", "label", "--dataset", "lab", "--limit", "2")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ("--model", "http://127.0.0.1:8080"),
            "--model: must name a checkpoint of transformers, not the server http",
        ),
        (("--model", "m", "--share", "1"), "--share: must be above 0 and below 1, not 1"),
        (("--model", "m", "--share", "nan"), "--share: must be above 0 and below 1, not nan"),
        (("--model", "m", "--frequencies", "none.gz"), "--frequencies: .* no file none.gz"),
        (("--model", "m", "--limit", "0"), "--limit: must be at least 1, not 0"),
    ],
)
def test_an_invalid_option_is_one_line_that_names_it(
    tmp_path: Path, given: tuple[str, ...], message: str
) -> None:
    ran = run_scaar(*LABEL, *given, "--out", str(tmp_path / "out"))
    assert ran.status == 2
    assert len(ran.err.splitlines()) == 1
    assert re.search(message, ran.err), ran.err
    assert not (tmp_path / "out").exists()


def test_an_empty_reference_in_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "q1", "question": "Who?", "answers": ["  "]}\n')
    ran = run_scaar(
        *("eval", "longtail", "label", "--dataset", f"jsonl:{file}", "--model", "m"),
        *("--out", str(tmp_path / "out")),
    )
    assert ran.status == 2
    assert "q.jsonl record 1, answers: must have at least one string that is not empty" in ran.err


def test_a_folder_without_labels_is_reported(tmp_path: Path) -> None:
    ran = run_scaar("eval", "longtail", "show", str(tmp_path))
    assert (ran.status, ran.out) == (1, "")
    assert "contains no labelling: there is no evaluations.sqlite" in ran.err


@pytest.fixture
def labelled(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of labels, and the file of passages that their words were counted in."""
    corpus, folder = tmp_path / "corpus.jsonl", tmp_path / "labels"
    corpus.write_text('{"id": "p1", "title": "Ada", "text": "Who is Ada? Who is who?"}\n')
    counted = corpus_frequencies(CorpusFile(corpus, metadata=False), name=corpus.name)
    origin = DatasetOrigin("jsonl", "q.jsonl", 0, 40, "c0ffee")
    labelling = Labelling(
        *("1.0", "2030-01-01T00:00:00+00:00", origin, "lm", "1", "lab@1", counted.source),
        *(("w",), 0.25),
    )
    questions = [Question(f"q{at}", "Who is it?", ("Ada",), f"e{at}") for at in range(40)]
    labels = [
        Label(
            *(each.id, "Who is it?", "Ada", "Ada", Parts(0.5, 0.5, 0.1, 1.0)),
            *(0.2 if at % 4 == 0 else 0.9, 0.1, 0.1, 1.0, at + 1, at % 4 == 0, 1, 1),
        )
        for at, each in enumerate(questions)
    ]
    found = {LABELS.name: {at: LABELS.json.line(x).decode() for at, x in enumerate(labels)}}
    asyncio.run(store_study(folder, LABELLING, StoredStudy(labelling, tuple(questions), found)))
    return folder, corpus


def test_a_proxy_is_fitted_to_labels_into_a_file_that_the_orchestrator_reads(
    tmp_path: Path, labelled: tuple[Path, Path]
) -> None:
    folder, corpus = labelled
    out = tmp_path / "gate.json"
    ran = run_scaar(
        *("eval", "longtail", "fit", str(folder), "--out", str(out)),
        *("--frequencies", str(corpus)),
    )
    assert ran.status == 0, ran.err
    assert f"SCAAR_ORCHESTRATOR_GATE_FILE={out}" in ran.err
    gate = OrchestratorSettings(gate_file=out).read_gate()
    assert gate is not None
    assert (gate.model, gate.weights[2] < 0) == ("lm", True)
    assert json.loads(out.read_text())["learned_from"]["questions"] == 40


def test_word_counts_other_than_those_of_the_labels_are_refused(
    tmp_path: Path, labelled: tuple[Path, Path]
) -> None:
    folder, corpus = labelled
    corpus.write_text('{"id": "p1", "title": "Bob", "text": "Bob."}\n')
    out = tmp_path / "gate.json"
    ran = run_scaar(
        *("eval", "longtail", "fit", str(folder), "--out", str(out)),
        *("--frequencies", str(corpus)),
    )
    assert ran.status == 2
    assert "--frequencies: the labels were made with the words of corpus.jsonl, 7 words" in ran.err
    assert not out.exists()
