"""Verbalised confidence: retrieval if the model states a low probability that it is right.

The model answers without passages, and is asked for the probability that this answer is correct
(Lin et al., TMLR 2022; in two steps as "Verb. 2S" of Tian et al., EMNLP 2023). The judgement is 1
minus the stated probability, and 1 if the model states none.
"""

import re
from dataclasses import dataclass

from scaar.core.gates.closed_book import TOKENS, about, closed_book
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.gate_json import GateDocument
from scaar.core.types import Capability, GenerateRequest

THRESHOLD = 0.5
STATEMENT_TOKENS = 16
_NUMBER = re.compile(
    r"(?<![\w.,+-])(?P<value>\d*[.,]\d+|\d+)(?!\d|[.,]\d)"
    r"(?:\s*(?P<percent>%|percent\b|per cent\b)|\s*(?:/|out of)\s*(?P<whole>\d+)(?!\d|[.,]\d))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Verbalised:
    """The gate. ``tokens`` is the maximum number of tokens of an answer."""

    revision: str
    threshold: float
    tokens: int

    name = "verbalised"
    policies = ()
    needs = frozenset[Capability]()
    needs_draft = False

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return 1 - the stated probability; the features are whether there is one, and its value.

        Without a stated probability, the question needs retrieval.
        """
        answer = await closed_book(model, max_tokens=self.tokens)
        prompt = about(
            question,
            answer,
            "State the probability that the proposed answer is correct, as a number from 0 to 1.",
            "Probability:",
        )
        (statement,) = await model.write(GenerateRequest(prompt, max_tokens=STATEMENT_TOKENS))
        stated = stated_probability(statement.text)
        if stated is None:
            return GateJudgement(1.0, {"stated": 0.0})
        return GateJudgement(1 - stated, {"stated": 1.0, "confidence": stated})


def read_verbalised(document: GateDocument) -> Verbalised:
    """Return the gate of a document, whose fields are all optional.

    Raises:
        DataCorrupt: a field is wrong; names it.
    """
    return Verbalised(
        document.revision,
        document.fields.share("threshold", THRESHOLD),
        document.fields.whole("tokens", 1, 256, TOKENS),
    )


def stated_probability(text: str) -> float | None:
    """Return the first probability in the first line of a text; None without one.

    It is a decimal number from 0 to 1, a percentage, a fraction (``8/10``, ``8 out of 10``), or a
    whole number that is all of the line: 0, 1, or a percentage. Other numbers are not taken for
    probabilities, such as those of dates.
    """
    line = text.strip().partition("\n")[0]
    for found in _NUMBER.finditer(line):
        value = float(found["value"].replace(",", "."))
        alone = not re.search(r"\w", line[: found.start()] + line[found.end() :])
        if found["whole"]:
            whole = float(found["whole"])
        elif found["percent"] or (alone and value > 1):
            whole = 100.0
        else:
            whole = 1.0 if alone or not found["value"].isdecimal() else 0.0
        if whole and value <= whole:
            return value / whole
    return None
