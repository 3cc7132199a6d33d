"""A gate: long questions need retrieval. Its file names the length at which that is certain."""

from dataclasses import dataclass

from scaar.extensions import Capability, GateDocument, GateJudgement, GateModel, QuestionGate


@dataclass(frozen=True)
class QuestionLength:
    """The gate. ``words`` is the length of a question that certainly needs retrieval."""

    revision: str
    threshold: float
    words: float

    name = "question_length"
    policies = ()
    needs = frozenset[Capability]()
    needs_draft = False

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the judgement of a question, without the model."""
        count = len(question.split())
        return GateJudgement(min(1.0, count / self.words), {"words": float(count)})


def read_question_length(document: GateDocument) -> QuestionGate:
    """Return the gate of a file; a field that is missing or out of range is named in the error."""
    fields = document.fields
    return QuestionLength(document.revision, fields.share("threshold"), fields.number("words"))
