"""The model's answers without passages, labelled by an evaluation, as gates read them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import numpy as np

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.probe import mean_state
from scaar.core.policies.no_retrieval import NO_RETRIEVAL
from scaar.core.ports import Generator
from scaar.core.prompts import profile_of
from scaar.core.types import Capability, GenerateRequest, ModelDescription, Token
from scaar.evaluator.records import Question
from scaar.evaluator.results import Results
from scaar.evaluator.statistics.detection import Truths
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.answered import (
    CORRECT,
    label_without_gate,
    scored_by_setting,
)
from scaar.evaluator.studies.tuning.folds import FOLDS, fold_of

MIN_ANSWERS = 10
"""The minimum number of right and of wrong answers."""


@dataclass(frozen=True, slots=True)
class LabelledQuestions:
    """Questions, whether the answer without passages is wrong, and the model of the answers."""

    questions: tuple[Question, ...]
    wrong: tuple[bool, ...]
    model: FittedModel
    origin: Mapping[str, object]

    @property
    def truths(self) -> Truths:
        """Whether each answer is wrong."""
        return np.array(self.wrong, dtype=np.bool_)

    def folds(self, seed: str = "", folds: int = FOLDS) -> Floats:
        """Return the fold of each question, that of its entity."""
        return np.array([float(fold_of(f"{seed}{q.entity}", folds)) for q in self.questions])


def read_labelled(results: Results) -> LabelledQuestions:
    """Return the questions that an evaluation answered without retrieval.

    Raises:
        InvalidRequest: the evaluation lacks the setting or an answer, has too few right or wrong
            answers, or too few entities.
    """
    label = label_without_gate(results, NO_RETRIEVAL.name, "DIR")
    scores = scored_by_setting(results)[label]
    kept = [each for each in results.questions if not scores[each.id].failed]
    wrong = tuple(scores[each.id].values[CORRECT] < 1 for each in kept)
    for kind, count in (("wrong", sum(wrong)), ("right", len(wrong) - sum(wrong))):
        if count < MIN_ANSWERS:
            text = f"must have at least {MIN_ANSWERS} {kind} answers without retrieval, not {count}"
            raise InvalidRequest.of("DIR", f"{text}: evaluate more questions")
    made, dataset = results.evaluation.provenance[label], results.evaluation.dataset
    found = LabelledQuestions(
        tuple(kept),
        wrong,
        FittedModel(made.model, made.model_revision),
        {
            "data set": dataset.name,
            "checksum": dataset.checksum,
            "questions": len(kept),
            "wrong": sum(wrong),
            "labels by": CORRECT,
        },
    )
    folds, truths = found.folds(), found.truths
    for fold in range(FOLDS):
        inside = folds == fold
        if not inside.any() or len(set(truths[~inside].tolist())) < 2:
            text = f"its right and wrong answers are about too few entities for {FOLDS} folds"
            raise InvalidRequest.of("DIR", f"{text}: evaluate more questions")
    return found


def check_generator(
    labelled: LabelledQuestions, described: ModelDescription, gate: str, needed: Capability
) -> None:
    """Check that a generator can write the evaluation's answers again.

    Raises:
        CapabilityMissing: it lacks the capability.
        InvalidRequest: it serves another model or revision than that of the answers.
    """
    if needed not in described.capabilities:
        raise CapabilityMissing(
            f"gate {gate} needs {needed}, which model {described.model} on engine "
            f"{described.engine} does not provide",
            missing=needed,
        )
    serving = FittedModel(described.model, described.revision)
    if serving != labelled.model:
        text = f"has answers of model {labelled.model.label}, and the generator of the settings"
        text = f"{text} serves {serving.label}: configure the model of the answers"
        raise InvalidRequest.of("DIR", text)


@dataclass(frozen=True, slots=True)
class AnswerWriter:
    """Writes answers without passages, as a gate lets the model write them."""

    generator: Generator
    described: ModelDescription
    tokens: int

    async def write(self, question: str, *, layer: int | None = None) -> tuple[Token, ...]:
        """Return the tokens of the answer, with the hidden states of the layer, if there is one."""
        profile = profile_of(self.described.prompt_profile)
        request = GenerateRequest(
            profile.render(question),
            max_tokens=self.tokens,
            stop=profile.stop,
            hidden_layer=layer,
        )
        async with aclosing(self.generator.generate(request)) as events:
            return tuple([each async for each in events if isinstance(each, Token)])


async def mean_states(
    writer: AnswerWriter,
    questions: Sequence[Question],
    layers: Sequence[int],
    on_written: Callable[[object], None] = lambda question: None,
) -> Mapping[int, Floats]:
    """Return the mean hidden states of the answers at each layer, questions by width.

    Raises:
        InvalidRequest: an answer has no token.
    """
    states: dict[int, list[tuple[float, ...]]] = {layer: [] for layer in layers}
    for question in questions:
        for layer in layers:
            tokens = await writer.write(question.question, layer=layer)
            if not tokens:
                raise InvalidRequest.of("DIR", f"the model writes no answer to {question.id}")
            states[layer].append(mean_state(tokens))
        on_written(question)
    return {layer: np.array(each) for layer, each in states.items()}
