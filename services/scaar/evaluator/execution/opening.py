"""What will answer under each setting, asked before any question is."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from scaar.core.errors import CapabilityMissing, StreamIncomplete
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest, AnswerStarted, Provenance
from scaar.evaluator.execution.scorers import NO_CONTROLS, Controls, asked_of
from scaar.evaluator.records import Setting
from scaar.evaluator.results import LeftOut


async def provenances(
    answerer: Answerer,
    settings: Sequence[Setting],
    template: AnswerRequest,
    *,
    controls: Controls = NO_CONTROLS,
) -> Mapping[str, Provenance]:
    """What will answer, by the setting's label; the template's question is opened, not answered.

    Raises:
        ScaarError: a setting that cannot be answered: the first of them, with its reason.
    """
    return {
        each.label: await provenance_of(
            asked_of(each, answerer, controls), request_under(each, template)
        )
        for each in settings
    }


async def split_served(
    answerer: Answerer,
    settings: Sequence[Setting],
    template: AnswerRequest,
    *,
    controls: Controls = NO_CONTROLS,
) -> tuple[tuple[Setting, ...], tuple[LeftOut, ...]]:
    """The settings that the model can serve, and the others with what it lacks for each.

    Raises:
        CapabilityMissing: it can serve none of them.
        ScaarError: a setting cannot be answered for another reason.
    """
    served: list[Setting] = []
    left_out: list[LeftOut] = []
    lacking: CapabilityMissing | None = None
    for each in settings:
        asked = asked_of(each, answerer, controls)
        try:
            await provenance_of(asked, replace(template, policy=each.policy))
        except CapabilityMissing as error:
            lacking = lacking or error
            left_out.append(LeftOut(each, error.metadata.get("missing", error.message)))
        else:
            served.append(each)
    if lacking is not None and not served:
        raise lacking
    return tuple(served), tuple(left_out)


def request_under(setting: Setting, template: AnswerRequest) -> AnswerRequest:
    """The template as it is asked under a setting."""
    index = template.index if setting.index is None else setting.index
    return replace(template, policy=setting.policy, index=index)


def lasting(provenance: Provenance) -> Provenance:
    """What is the same of every answer: without the id of the request."""
    return replace(provenance, request_id="")


async def provenance_of(answerer: Answerer, request: AnswerRequest) -> Provenance:
    """What will answer a request; it is opened, not answered.

    Raises:
        ScaarError: it cannot be answered.
    """
    async with aclosing(answerer.stream_answer(request)) as events:
        async for event in events:
            if isinstance(event, AnswerStarted):
                return lasting(event.provenance)
    raise StreamIncomplete("the answer ended before it began")
