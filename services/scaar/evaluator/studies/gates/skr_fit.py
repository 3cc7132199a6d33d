"""The gate of SKR from answered questions."""

from collections.abc import Mapping, Sequence

from scaar.core.errors import InvalidRequest
from scaar.core.gates.skr import NEIGHBOURS, SkrGate
from scaar.core.plurals import counted
from scaar.encoders.nearest_questions import question_vectors
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.evaluator.studies.gates.answered import CORRECT, AnsweredQuestion


def fit_skr(
    answered: Sequence[AnsweredQuestion],
    encoder: SentenceEncoder,
    *,
    neighbours: int = NEIGHBOURS,
) -> SkrGate:
    """Return the gate of the questions that retrieval helped or harmed.

    Raises:
        InvalidRequest: there are fewer of them than neighbours.
    """
    labelled = [each for each in answered if each.benefit]
    if len(labelled) < neighbours:
        text = (
            f"retrieval changes {len(labelled)} of {counted(len(answered), 'answer')}: answer more "
            "questions"
        )
        raise InvalidRequest.of("SOURCE", f"must have {neighbours} labelled questions, and {text}")
    vectors = encoder.encode([each.question.question for each in labelled])
    return SkrGate(
        revision="",
        helped=tuple(each.benefit > 0 for each in labelled),
        unchanged=len(answered) - len(labelled),
        neighbours=neighbours,
        vectors=question_vectors(encoder, vectors),
    )


def describe_skr(answered: Sequence[AnsweredQuestion], gate: SkrGate) -> Mapping[str, object]:
    """Return the provenance of a gate for its file."""
    return {
        "data sets": sorted({each.dataset for each in answered}),
        "questions": len(answered),
        "labels by": CORRECT,
        "helped": sum(gate.helped),
        "harmed": len(gate.helped) - sum(gate.helped),
    }
