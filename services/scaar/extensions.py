"""What a package needs to extend scaar: the types of parts, and the registries of installed ones.

A package adds a part by an entry point, whose name is that of the part in requests and whose group
is that of a registry (docs/extending.md). The names in ``__all__`` change only with an entry in the
changelog.
"""

from typing import Any

from scaar.core.defaults import DEFAULTS, DefaultIndex, DefaultScorer, DefaultsProvider
from scaar.core.evidence.evidence import Evidence
from scaar.core.gates import GATES, GateJudgement, GateModel, QuestionGate
from scaar.core.gates.gate_json import GateDocument
from scaar.core.policies import PRESETS
from scaar.core.policies.preset import Preset
from scaar.core.queries import FORMULATIONS
from scaar.core.queries.formulation import Formulated, FormulationRule, of_draft, of_written
from scaar.core.registry import Registry
from scaar.core.triggers import TRIGGERS
from scaar.core.triggers.lower_threshold import Limit
from scaar.core.triggers.lower_threshold import judge as judge_by_lower_thresholds
from scaar.core.triggers.rule import PROBABILITY, Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.sentence_threshold import judge as judge_sentence
from scaar.core.triggers.upper_threshold import judge as judge_by_upper_threshold
from scaar.core.types import (
    Capability,
    EffectivePolicy,
    EvidenceKind,
    GenerateRequest,
    JudgedWord,
    LogprobsRequest,
    Moment,
    Passage,
    QueryRequest,
    QuerySettings,
    Token,
)

__all__ = [
    "ANSWERING",
    "PROBABILITY",
    "Capability",
    "DefaultIndex",
    "DefaultScorer",
    "DefaultsProvider",
    "EffectivePolicy",
    "Evidence",
    "EvidenceKind",
    "Formulated",
    "FormulationRule",
    "GateDocument",
    "GateJudgement",
    "GateModel",
    "GenerateRequest",
    "JudgedWord",
    "Judgement",
    "Limit",
    "LogprobsRequest",
    "Moment",
    "Passage",
    "Preset",
    "QueryRequest",
    "QuerySettings",
    "QuestionGate",
    "ThetaRange",
    "Token",
    "TriggerRule",
    "judge_by_lower_thresholds",
    "judge_by_upper_threshold",
    "judge_sentence",
    "of_draft",
    "of_written",
    "registries",
]

ANSWERING: tuple[Registry[Any], ...] = (TRIGGERS, FORMULATIONS, PRESETS, GATES, DEFAULTS)
"""The registries of the parts that answer questions, and of the defaults of their models."""


def registries() -> tuple[Registry[Any], ...]:
    """Return the registries of all parts, those of evaluations included."""
    from scaar.evaluator.datasets import KINDS
    from scaar.evaluator.measures import MEASURES

    return (*ANSWERING, MEASURES, KINDS)
