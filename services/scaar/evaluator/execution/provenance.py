"""The provenance of every setting, resolved before any question is answered."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from scaar.core.errors import CapabilityMissing, InvalidRequest, StreamIncomplete
from scaar.core.ports import Answerer
from scaar.core.prompts import profile_of
from scaar.core.prompts.instruct import INSTRUCT
from scaar.core.prompts.scaar import SCAAR
from scaar.core.types import AnswerRequest, AnswerStarted, PolicyRequest, Provenance
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.execution.scorers import NO_CONTROLS, Controls, answerer_for
from scaar.evaluator.records import Setting
from scaar.evaluator.results import LeftOut


async def provenances(
    answerer: Answerer,
    settings: Sequence[Setting],
    template: AnswerRequest,
    *,
    controls: Controls = NO_CONTROLS,
) -> Mapping[str, Provenance]:
    """Return the provenance of every setting by its label.

    Raises:
        ScaarError: a setting cannot be answered; the error of the first such setting.
    """
    return {
        each.label: await provenance_of(
            answerer_for(each, answerer, controls), request_for(each, template)
        )
        for each in settings
    }


async def select_servable(
    answerer: Answerer,
    settings: Sequence[Setting],
    template: AnswerRequest,
    *,
    controls: Controls = NO_CONTROLS,
) -> tuple[tuple[Setting, ...], tuple[LeftOut, ...]]:
    """Return the settings that the model can serve, and the others with what the model lacks.

    Raises:
        CapabilityMissing: the model can serve none of the settings.
        ScaarError: a setting cannot be answered for another reason.
    """
    served: list[Setting] = []
    left_out: list[LeftOut] = []
    lacking: CapabilityMissing | None = None
    for each in settings:
        try:
            await provenance_of(
                answerer_for(each, answerer, controls), replace(template, policy=each.policy)
            )
        except CapabilityMissing as error:
            lacking = lacking or error
            left_out.append(LeftOut(each, error.metadata.get("missing", error.message)))
        else:
            served.append(each)
    if lacking is not None and not served:
        raise lacking
    return tuple(served), tuple(left_out)


async def with_profile(
    answerer: Answerer, template: AnswerRequest, kind: DatasetKind
) -> AnswerRequest:
    """Return the template with the prompt profile of evaluations.

    That is the profile of the template or of the model, with the data set's few-shot examples if
    its layout has any. For a model with the profile ``instruct``, it is ``scaar@2``, whose answers
    are short and whose examples show their form.

    Raises:
        ScaarError: the answer cannot be started.
    """
    # Every model can serve this policy.
    alone = replace(template, policy=PolicyRequest("no_retrieval"))
    layout = (await provenance_of(answerer, alone)).prompt_profile.partition(":")[0]
    if not template.prompt_profile and layout != (evaluated := evaluated_profile(layout)):
        template, layout = replace(template, prompt_profile=evaluated), evaluated
    if not kind.exemplars or profile_of(layout).exemplars is None:
        return template
    return replace(template, prompt_profile=f"{layout}:{kind.exemplars}")


def evaluated_profile(profile: str) -> str:
    """Return the prompt profile with which a model of that profile is evaluated."""
    return SCAAR.label if profile_of(profile) is INSTRUCT else profile


def check_indexes(settings: Sequence[Setting], made: Mapping[str, Provenance]) -> None:
    """Check that the indexes of the settings, if they name their own, contain the same passages.

    Raises:
        InvalidRequest: the passages differ, or an index has no digest of its passages.
    """
    contents = {
        each.index: made[each.label].index_content for each in settings if each.index is not None
    }
    for name, content in contents.items():
        if not content:
            text = f"{name} was built by a version that stores no digest of the passages, so it"
            how = "cannot be compared: build it again with scaar index build --replace"
            raise InvalidRequest.of("indexes", f"{text} {how}")
    if len(set(contents.values())) > 1:
        found = ", ".join(f"{name} (passages {text[:12]})" for name, text in contents.items())
        raise InvalidRequest.of("indexes", f"must contain the same passages: {found}")


def request_for(setting: Setting, template: AnswerRequest) -> AnswerRequest:
    """Return the template with the policy and the index of a setting."""
    index = template.index if setting.index is None else setting.index
    return replace(template, policy=setting.policy, index=index)


def without_request_id(provenance: Provenance) -> Provenance:
    """Return the part of a provenance that is the same for every answer."""
    return replace(provenance, request_id="")


async def provenance_of(answerer: Answerer, request: AnswerRequest) -> Provenance:
    """Return the provenance of an answer to the request; nothing is answered or recorded.

    Raises:
        ScaarError: the request cannot be answered.
    """
    request = replace(request, provenance_only=True)
    async with aclosing(answerer.stream_answer(request)) as events:
        async for event in events:
            if isinstance(event, AnswerStarted):
                return without_request_id(event.provenance)
    raise StreamIncomplete("the answer ended before its first event")
