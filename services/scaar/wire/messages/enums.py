"""The domain's enums beside those of the contract; members go by the same names."""

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import EvaluationState, ReportForm
from scaar.core.types import (
    AnswerEnd,
    Capability,
    ContinuationKind,
    FinishReason,
    Formulation,
    Gate,
    Granularity,
    LogprobKind,
    OnFailure,
    SettingSource,
    Trigger,
    Truncation,
    When,
    WordOrder,
)
from scaar.v1 import (
    answer_pb2,
    evaluator_pb2,
    generator_pb2,
    orchestrator_pb2,
    policy_pb2,
    query_builder_pb2,
)

if TYPE_CHECKING:
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper

_Domain = TypeVar("_Domain", bound=StrEnum)
_Wire = TypeVar("_Wire", bound=int)


class EnumPair(Generic[_Domain, _Wire]):
    """A domain enum and its counterpart, whose values are prefixed by the enum's name."""

    def __init__(self, domain: type[_Domain], wire: "_EnumTypeWrapper[_Wire]") -> None:
        prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", domain.__name__).upper()
        self._to_pb = {member: wire.Value(f"{prefix}_{member.name}") for member in domain}
        self._from_pb = {int(value): member for member, value in self._to_pb.items()}

    def to_pb(self, member: _Domain) -> _Wire:
        return self._to_pb[member]

    def from_pb(self, value: int, field: str) -> _Domain:
        """The member.

        Raises:
            InvalidRequest: the value is unspecified or not known.
        """
        try:
            return self._from_pb[int(value)]
        except KeyError:
            known = ", ".join(member.value for member in self._to_pb)
            text = f"must be one of {known}; {int(value)} is not" if value else "must be specified"
            raise InvalidRequest.of(field, text) from None


ANSWER_END = EnumPair(AnswerEnd, answer_pb2.AnswerEnd)
CAPABILITY = EnumPair(Capability, generator_pb2.Capability)
CONTINUATION_KIND = EnumPair(ContinuationKind, generator_pb2.ContinuationKind)
EVALUATION_STATE = EnumPair(EvaluationState, evaluator_pb2.EvaluationState)
FINISH_REASON = EnumPair(FinishReason, generator_pb2.FinishReason)
FORMULATION = EnumPair(Formulation, query_builder_pb2.Formulation)
GATE = EnumPair(Gate, policy_pb2.Gate)
GRANULARITY = EnumPair(Granularity, policy_pb2.Granularity)
LOGPROB_KIND = EnumPair(LogprobKind, generator_pb2.LogprobKind)
ON_FAILURE = EnumPair(OnFailure, orchestrator_pb2.OnFailure)
REPORT_FORM = EnumPair(ReportForm, evaluator_pb2.ReportForm)
SETTING_SOURCE = EnumPair(SettingSource, policy_pb2.SettingSource)
TRIGGER = EnumPair(Trigger, policy_pb2.Trigger)
TRUNCATION = EnumPair(Truncation, policy_pb2.Truncation)
WHEN = EnumPair(When, policy_pb2.When)
WORD_ORDER = EnumPair(WordOrder, query_builder_pb2.WordOrder)
