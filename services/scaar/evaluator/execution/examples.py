"""The examples that suit a data set, where the model's layout shows any."""

from dataclasses import replace

from scaar.core.ports import Answerer
from scaar.core.prompts import profile_of
from scaar.core.types import AnswerRequest
from scaar.evaluator.datasets.kind import Kind
from scaar.evaluator.execution.opening import provenance_of


async def with_examples(answerer: Answerer, template: AnswerRequest, kind: Kind) -> AnswerRequest:
    """The template with the data set's examples; its question is opened, not answered.

    Raises:
        ScaarError: it cannot be opened.
    """
    if not kind.exemplars:
        return template
    layout = (await provenance_of(answerer, template)).prompt_profile.partition(":")[0]
    if profile_of(layout).exemplars is None:
        return template
    return replace(template, prompt_profile=f"{layout}:{kind.exemplars}")
