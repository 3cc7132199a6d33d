"""The model's answer without passages, about which a gate asks the model."""

from scaar.core.gates.gate import GateModel, Sample
from scaar.core.prompts import PromptProfile
from scaar.core.prompts.untrusted import safe_question
from scaar.core.types import GenerateRequest

TOKENS = 128
"""The default of the maximum number of tokens of an answer."""


async def closed_book(model: GateModel, *, max_tokens: int) -> str:
    """Return the conclusion of the answer that the model writes without passages."""
    request = GenerateRequest(model.prompt, max_tokens=max_tokens, stop=model.profile.stop)
    (answer,) = await model.write(request)
    return conclusion(model.profile, answer)


def conclusion(profile: PromptProfile, answer: Sample) -> str:
    """Return what the answer concludes on one line; all of its text if it does not conclude."""
    return " ".join((profile.extract_answer(answer.text) or answer.text).split())


def about(question: str, answer: str, *lines: str) -> str:
    """Return a prompt about an answer to a question, which ends with the lines."""
    stated = f"Question: {safe_question(question)}", f"Proposed answer: {safe_question(answer)}"
    return "\n".join((*stated, *lines))
