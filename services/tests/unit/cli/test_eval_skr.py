"""``scaar eval fit-skr``: from answered questions to the file of a gate, and its encoder."""

import asyncio
import json
from dataclasses import replace

import pytest

from scaar.compose import open_gate
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.evaluator.studies.gates.answered import default_encoder_of, read_answered
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.testing.commands import run_scaar
from scaar.testing.english import provide_english, remove_english
from scaar.testing.gate_model import NO_MODEL
from scaar.testing.word_encoder import write_word_encoder

RIGHT, WRONG = "Ann", "Bob"
ANSWERS = [(WRONG, RIGHT)] * 4 + [(RIGHT, WRONG)] * 2 + [(WRONG, WRONG)] * 3
"""The answers without and with retrieval."""


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    records = [
        {
            "id": f"q{at}",
            "question": f"Who made film {at}?",
            "answers": [RIGHT],
            "lm_no_retrieval": without,
            "lm_one_retrieval": retrieved,
        }
        for at, (without, retrieved) in enumerate(ANSWERS)
    ]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


def fit(questions, encoder, *more):
    source, out = f"jsonl:{questions}", questions.with_name("skr.json")
    named = ("--encoder", str(encoder)) if encoder else ()
    options = (*named, "--out", str(out), *more)
    return out, run_scaar("eval", "fit-skr", source, *options)


def settings(**given):
    return OrchestratorSettings(**given)


def test_the_file_opens_as_a_gate_with_its_encoder(questions, sentence_encoder_folder):
    out, ran = fit(questions, sentence_encoder_folder, "--answers", "lm")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[-1] == "| 9 | 4 | 2 | 3 | 0.600 |"
    assert f"SCAAR_ORCHESTRATOR_GATE_FILE={out}" in ran.err
    gate = open_gate(settings(gate_file=out, gate_encoder=sentence_encoder_folder))
    assert gate.helped == (True,) * 4 + (False,) * 2
    judged = asyncio.run(gate.judge("Who made film 0?", NO_MODEL))
    # The five nearest of six: one of the four helped or one of the two harmed is not among them.
    assert judged.probability in (3 / 5, 4 / 5)


def test_without_an_encoder_that_of_scaar_english_fits_and_judges(
    questions, sentence_encoder_folder, tmp_path, monkeypatch
):
    provide_english(monkeypatch, sentence_encoder_folder)
    out, ran = fit(questions, None, "--answers", "lm")
    assert ran.status == 0, ran.err
    assert f"SCAAR_ORCHESTRATOR_GATE_ENCODER={sentence_encoder_folder}" in ran.err
    gate = open_gate(settings(gate_file=out))
    assert asyncio.run(gate.judge("Who made film 0?", NO_MODEL)).probability in (3 / 5, 4 / 5)
    provide_english(monkeypatch, write_word_encoder(tmp_path / "other", ["none of them"]))
    with pytest.raises(InvalidRequest, match="gate_encoder: must have the encoder of the gate's"):
        open_gate(settings(gate_file=out))


def test_without_scaar_english_an_encoder_must_be_named(questions, monkeypatch):
    remove_english(monkeypatch)
    _, ran = fit(questions, None, "--answers", "lm")
    assert ran.status == 1
    message = "need an encoder: install scaar-english, or set --encoder to an encoder's folder"
    assert ran.err == f"scaar: the vectors of questions {message}\n"


def test_questions_of_the_lab_have_no_default_encoder(
    questions, sentence_encoder_folder, monkeypatch
):
    provide_english(monkeypatch, sentence_encoder_folder)
    answered = read_answered([f"jsonl:{questions}"], "lm")
    assert default_encoder_of(answered) == sentence_encoder_folder
    with pytest.raises(CapabilityMissing, match="need an encoder: set --encoder"):
        default_encoder_of([*answered, replace(answered[0], dataset="lab")])


def test_a_gate_without_its_encoder_is_refused_by_the_setting(
    questions, sentence_encoder_folder, monkeypatch
):
    remove_english(monkeypatch)
    out, _ = fit(questions, sentence_encoder_folder, "--answers", "lm")
    with pytest.raises(InvalidRequest, match="gate_encoder: is required by the gate skr"):
        open_gate(settings(gate_file=out))
    with pytest.raises(InvalidRequest, match="gate_encoder: .*/no/where does not exist"):
        open_gate(settings(gate_file=out, gate_encoder="/no/where"))
    with pytest.raises(InvalidRequest, match="gate_file: /no/where cannot be read"):
        open_gate(settings(gate_file="/no/where"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "--answers: is required for jsonl:"),
        (("--answers", "other"), "other_no_retrieval"),
        (("--answers", "lm", "--neighbours", "7"), "must have 7 labelled questions"),
    ],
)
def test_what_is_missing_is_named(questions, sentence_encoder_folder, more, message):
    out, ran = fit(questions, sentence_encoder_folder, *more)
    assert ran.status != 0
    assert message in ran.err
    assert not out.exists()


@pytest.mark.parametrize("command", ["fit-skr", "gates"])
def test_a_prefix_of_fields_without_a_file_is_rejected(command, tmp_path, sentence_encoder_folder):
    ran = run_scaar(
        *("eval", command, str(tmp_path), "--answers", "lm"),
        *("--encoder", str(sentence_encoder_folder), "--out", str(tmp_path / "out")),
    )
    assert ran.status == 2
    assert "--answers: has no effect on folders of evaluations" in ran.err
