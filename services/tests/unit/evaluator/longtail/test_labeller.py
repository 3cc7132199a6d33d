"""A data set labelled, over a scripted model and gradients that can be worked out by hand."""

import asyncio
import json
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from scaar.core.errors import CapabilityMissing, DataCorrupt, InvalidRequest, NotFound, ScaarError
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.loop.model_only import model_alone
from scaar.core.types import AnswerRequest, GenerateRequest, PolicyRequest
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.store.studies import lines_of, read_study
from scaar.evaluator.studies.longtail.folder import LABELLING as LABELLING_STUDY
from scaar.evaluator.studies.longtail.folder import read_labels
from scaar.evaluator.studies.longtail.gradients import Gradient
from scaar.evaluator.studies.longtail.labeller import Labeller, label_in_folder
from scaar.evaluator.studies.longtail.records import Label, Labelling
from scaar.testing.commands import run_scaar
from scaar.testing.fakes import Piece, ScriptedGenerator

QUESTIONS = tuple(
    Question(f"q{at}", f"Who is {name}?", (f"{name} Lovelace",), name)
    for at, name in enumerate(("Ada", "Bob", "Cyd", "Dee"))
)
GRADIENTS = {"Ada": (3.0, 0.0), "Bob": (1.0, 1.0), "Cyd": (1.0, 0.0), "Dee": (-1.0, -1.0)}
"""Their mean is (1, 0), so that the products are 3, 1, 1 and -1."""
STATISTICS = WordStatistics("a list", {"ada": 0.4, "who": 0.2, "is": 0.2}, 0.1)
LABELLING = Labelling(
    *("1.0", "2030-01-01T00:00:00+00:00", DatasetOrigin("jsonl", "q.jsonl", 0, 4, "c0ffee")),
    *("scripted", "1", "lab@1", "a list", ("w", "b"), 0.2),
)


class TableOfGradients:
    """A :class:`GradientModel` of two weights, which fails after a number of gradients."""

    weights = ("w", "b")

    def __init__(self, *, most: int = 1_000) -> None:
        self.received: list[str] = []
        self._most = most

    def gradient(self, prompt: str, started: str, reference: str) -> Gradient:
        if len(self.received) == self._most:
            raise ScaarError("the machine went away")
        assert started == " So the answer is"
        name = reference.split()[0]
        assert f"Who is {name}?" in prompt
        self.received.append(name)
        return tuple(np.array([each], dtype=np.float32) for each in GRADIENTS[name])


def script(request: GenerateRequest) -> list[Piece]:
    if "Ada" in request.prompt:
        first = [(" It", log(0.9)), (" is.", log(0.7))]
        return [*first, (" The answer is", 0.0), (" Ada Lovelace.", log(0.2))]
    return [(" The answer is", log(0.5)), (" a man.", None)]


def labeller(gradients: TableOfGradients) -> Labeller:
    template = AnswerRequest("", PolicyRequest("no_retrieval"), index="none")
    return Labeller(model_alone(ScriptedGenerator(script)), gradients, STATISTICS, template)


async def labels(folder: Path, *, most: int = 1_000) -> tuple[Label, ...]:
    return await label_in_folder(
        labeller(TableOfGradients(most=most)), folder, LABELLING, QUESTIONS
    )


async def test_every_question_has_its_parts_its_rank_and_its_label(tmp_path: Path) -> None:
    ada, bob, cyd, dee = await labels(tmp_path / "labels")
    assert [each.parts.product for each in (ada, bob, cyd, dee)] == [3.0, 1.0, 1.0, -1.0]
    assert ada.parts.probability == pytest.approx((0.9 + 0.7 + 1 + 0.2) / 4)
    assert ada.confidence == pytest.approx(0.8)
    # who 0.2, is 0.2, ada 0.4 twice, lovelace 0.1.
    assert ada.parts.frequency == pytest.approx(1.3 / 5)
    assert ada.question_frequency == pytest.approx(0.8 / 3)
    assert ada.rarest == 0.2
    # Two words in their order: no fragmentation but 0.5 * (1 / 2) ** 3.
    assert ada.parts.meteor == pytest.approx(1 - 0.0625)
    assert bob.parts.meteor == 0.0
    # A token without a probability counts as 0.
    assert bob.parts.probability == pytest.approx(0.25)
    assert bob.gece == pytest.approx(0.25 / (bob.parts.frequency * 1.0))
    assert dee.gece is None
    assert [each.rank for each in (ada, bob, cyd, dee)] == [4, 2, 3, 1]
    assert [each.long_tail for each in (ada, bob, cyd, dee)] == [False, False, False, True]


@pytest.mark.parametrize("most", [0, 1, 3, 4, 5, 7])
async def test_an_interrupted_labelling_resumes_with_the_same_labels(
    tmp_path: Path, most: int
) -> None:
    with pytest.raises(ScaarError, match="went away"):
        await labels(tmp_path / "broken", most=most)
    assert await labels(tmp_path / "broken") == await labels(tmp_path / "whole")
    broken, whole = (tmp_path / each for each in ("broken", "whole"))
    assert read_study(broken, LABELLING_STUDY) == read_study(whole, LABELLING_STUDY)
    assert (broken / "labels.jsonl").read_bytes() == (whole / "labels.jsonl").read_bytes()


async def test_an_unfinished_labelling_has_no_labels(tmp_path: Path) -> None:
    with pytest.raises(ScaarError, match="went away"):
        await labels(tmp_path, most=5)
    with pytest.raises(NotFound, match="contains no labels yet: the labelling is unfinished"):
        read_labels(tmp_path)


async def test_a_labelling_of_an_earlier_version_is_imported_and_resumed(tmp_path: Path) -> None:
    made, folder = tmp_path / "made", tmp_path / "earlier"
    whole = await labels(made)
    stored = read_study(made, LABELLING_STUDY)
    folder.mkdir()
    (folder / "labelling.json").write_bytes(RecordJson(Labelling).document(LABELLING))
    (folder / "questions.jsonl").write_bytes(b"".join(map(RecordJson(Question).line, QUESTIONS)))
    (folder / "mean.npz").write_bytes((made / "mean.npz").read_bytes())
    for part in LABELLING_STUDY.parts[:2]:
        lines = lines_of(part, tuple(stored.records(part).values()))
        (folder / f"{part.name}.jsonl").write_bytes(lines)
    ran = await asyncio.to_thread(run_scaar, "eval", "import", str(folder))
    assert ran.status == 0, ran.err
    assert await labels(folder, most=0) == whole
    assert read_study(folder, LABELLING_STUDY) == stored


async def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    await labels(tmp_path)
    assert await labels(tmp_path, most=0) == read_labels(tmp_path)[2]


async def test_another_share_labels_more_without_the_model(tmp_path: Path) -> None:
    await labels(tmp_path)
    requested = replace(LABELLING, share=0.5)
    found = await label_in_folder(
        labeller(TableOfGradients(most=0)), tmp_path, requested, QUESTIONS
    )
    assert sum(each.long_tail for each in found) == 2
    assert read_labels(tmp_path)[0].share == 0.5


async def test_a_folder_of_another_model_or_of_something_else_is_left_alone(
    tmp_path: Path,
) -> None:
    await labels(tmp_path)
    with pytest.raises(
        InvalidRequest, match="model is 'scripted' in the stored one and 'other' now"
    ):
        await label_in_folder(
            labeller(TableOfGradients()), tmp_path, replace(LABELLING, model="other"), QUESTIONS
        )
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(InvalidRequest, match="contains notes.txt but no evaluations.sqlite"):
        await label_in_folder(labeller(TableOfGradients()), other, LABELLING, QUESTIONS)


async def test_a_sum_of_gradients_that_is_damaged_is_reported(tmp_path: Path) -> None:
    await labels(tmp_path)
    (tmp_path / "mean.npz").write_bytes(b"nothing")
    with pytest.raises(DataCorrupt, match=r"mean\.npz is corrupt"):
        await labels(tmp_path)


@pytest.mark.parametrize("answers", [(), ("",), ("Ada", " \n")])
async def test_a_reference_that_is_missing_or_empty_is_named_before_any_work(
    tmp_path: Path, answers: tuple[str, ...]
) -> None:
    gradients = TableOfGradients()
    requested = (*QUESTIONS, Question("q9", "Who?", answers, "q9"))
    with pytest.raises(InvalidRequest, match="question q9, answers: must have a reference"):
        await label_in_folder(labeller(gradients), tmp_path / "out", LABELLING, requested)
    assert gradients.received == []
    assert not (tmp_path / "out").exists()


async def test_a_model_alone_answers_under_no_other_policy() -> None:
    answerer = model_alone(ScriptedGenerator(script))
    with pytest.raises(CapabilityMissing, match="use the policy no_retrieval"):
        async for _ in answerer.stream_answer(
            AnswerRequest("Who?", PolicyRequest("flare"), index="any")
        ):
            pass


async def test_labels_are_json_lines_that_others_can_read(tmp_path: Path) -> None:
    await labels(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [line["question_id"] for line in lines] == ["q0", "q1", "q2", "q3"]
    assert "gece" in lines[0]
