"""The three labellings of FILCO, and the fit of a filter to their labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.prompts import profile_of
from scaar.core.sentence_filter.learned_filter import Labelling
from scaar.core.types import (
    LogprobsRequest,
    Passage,
    RetrievedPassage,
    TextLogprobs,
    Token,
)
from scaar.evaluator.records import Question
from scaar.evaluator.splits import Split, split_of
from scaar.evaluator.studies.filtering.fit import (
    SPLIT_SEED,
    check_fit,
    fit_filter,
    label_questions,
)
from scaar.evaluator.studies.filtering.labelling import AnswerModel, label
from scaar.testing.fakes import InMemoryRetriever

QUESTION = Question("q", "When was The Bell released?", ("1937", "in 1937"), "The Bell")
FILM = RetrievedPassage(
    "p1", "The Bell", "The Bell was released in 1937. It won in 1937. Ada cut it.", 2.0, 1
)
OTHER = RetrievedPassage("p2", "The Clock", "Ada made The Clock in 1949. It failed.", 1.0, 2)


@dataclass
class Favouring:
    """A model to which an answer is the likelier, the better the sentence in its prompt."""

    gains: dict[str, float]

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        assert request.text == " 1937"
        assert request.prompt.endswith("Answer: So the answer is")
        gain = sum(each for text, each in self.gains.items() if text in request.prompt)
        pieces = (" 19", "37")
        tokens = [Token(at, text, 0, 1, (gain - 3.0) / 2) for at, text in enumerate(pieces)]
        return TextLogprobs(tuple(tokens), 9)


def favouring(**gains: float) -> AnswerModel:
    return AnswerModel(Favouring(gains), profile_of("lab"))  # type: ignore[arg-type]


async def test_strinc_takes_every_sentence_with_an_answer() -> None:
    found = await label(Labelling.STRINC, QUESTION, (FILM, OTHER))
    assert found == ((True, True, False), (False, False))
    shout = replace(FILM, text="BORN IN ROME.")
    asked = replace(QUESTION, answers=("Rome",))
    assert await label(Labelling.STRINC, asked, (shout,)) == ((True,),)


async def test_lexical_takes_the_sentence_of_each_passage_that_overlaps_most() -> None:
    found = await label(Labelling.LEXICAL, QUESTION, (FILM, OTHER))
    # Of the words "bell was released in 1937" and "when was bell released 1937", four are shared.
    assert found == ((True, False, False), (False, False))
    near = replace(OTHER, text="Bell was released. The Bell was released 1937.")
    assert await label(Labelling.LEXICAL, QUESTION, (near,)) == ((False, True),)


async def test_cxmi_takes_the_sentence_of_each_passage_that_adds_most_to_the_answer() -> None:
    model = favouring(**{"won in": 2.0, "released in": 1.0, "failed": 0.5, "Clock": -1.0})
    found = await label(Labelling.CXMI, QUESTION, (FILM, OTHER), model)
    assert found == ((False, True, False), (False, True))
    none = await label(Labelling.CXMI, QUESTION, (FILM, OTHER), favouring(Ada=-1.0))
    assert none == ((False, False, False), (False, False))


async def test_cxmi_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="^labelling: cxmi needs a language model"):
        await label(Labelling.CXMI, QUESTION, (FILM,))


@pytest.mark.parametrize("labelling", [Labelling.STRINC, Labelling.LEXICAL])
async def test_a_passage_without_sentences_has_no_label(labelling: Labelling) -> None:
    assert await label(labelling, QUESTION, (replace(FILM, text=" "),)) == ((),)


def questions(count: int) -> tuple[Question, ...]:
    return tuple(
        Question(f"q{at}", f"When was film{at} released?", (f"{1900 + at}",), f"film{at}")
        for at in range(count)
    )


def index_of(asked: Sequence[Question]) -> InMemoryRetriever:
    return InMemoryRetriever(
        {
            "films": [
                Passage(
                    each.id,
                    each.entity,
                    f"It stars Ada. The {each.entity} was released in {each.answers[0]}. It won.",
                )
                for each in asked
            ]
        }
    )


async def test_a_fitted_filter_keeps_the_sentences_with_answers() -> None:
    asked = questions(40)
    labelled = await label_questions(
        asked, index_of(asked), index="films", top_k=1, labelling=Labelling.STRINC
    )
    assert [sum(each.useful for each in found.sentences) for found in labelled] == [1] * 40
    fitted = fit_filter(labelled, labelling=Labelling.STRINC, recall=1.0)
    figures = fitted.figures[Split.TEST]
    assert (figures.precision, figures.recall, figures.auroc) == (1.0, 1.0, 1.0)
    assert (figures.kept, figures.useful) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert figures.fell_back == 0.0
    assert figures.questions + fitted.figures[Split.DEVELOPMENT].questions == 40
    _, passages = fitted.learned.filter(
        0,
        "When was The Bell released?",
        [RetrievedPassage("p", "The Bell", "The Bell was released in 1937. It won.", 1.0, 1)],
    )
    assert [each.text for each in passages] == ["The Bell was released in 1937."]


@pytest.mark.parametrize("recall", [0.2, 0.5, 0.9])
async def test_the_threshold_is_the_highest_that_keeps_the_wanted_share(recall: float) -> None:
    asked = questions(40)
    labelled = await label_questions(
        asked, index_of(asked), index="films", top_k=3, labelling=Labelling.STRINC
    )
    learned = fit_filter(labelled, labelling=Labelling.STRINC, recall=recall).learned
    useful = np.array(
        [
            learned.probability(each.features)
            for found in labelled
            if split_of(found.question.entity, seed=SPLIT_SEED) is Split.DEVELOPMENT
            for each in found.sentences
            if each.useful
        ]
    )
    assert np.mean(useful >= learned.threshold) >= recall
    assert np.mean(useful > learned.threshold) < recall


async def test_labels_that_are_all_equal_are_refused() -> None:
    asked = tuple(replace(each, answers=("never",)) for each in questions(10))
    labelled = await label_questions(
        asked, index_of(questions(10)), index="films", top_k=1, labelling=Labelling.STRINC
    )
    with pytest.raises(InvalidRequest, match="^dataset: 0 of the .* are useful by strinc: fit to"):
        fit_filter(labelled, labelling=Labelling.STRINC, recall=0.9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recall": 0.0}, r"^recall: must be in \(0, 1\], not 0"),
        ({"top_k": 101}, "^top_k: must be 1 to 100, not 101"),
        ({"answers": ()}, "^dataset: question q must have an answer"),
        ({"answers": (" ",)}, "^dataset: question q must have an answer"),
    ],
)
def test_what_cannot_be_fitted_is_refused(changes: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"recall": 0.9, "top_k": 3, "answers": ("1937",), **changes}
    asked = replace(QUESTION, answers=given.pop("answers"))  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match=message):
        check_fit([asked], **given)  # type: ignore[arg-type]
