"""What a request may set beyond OpenAI's interface: the field ``scaar``."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from scaar.core.types import BudgetLimits

_BUDGET = BudgetLimits()
Values = str | list[str]


class Options(BaseModel):
    """Base of the objects of a request; unknown fields are rejected, unless they ask for nothing.

    A null is the same as a missing field, and an unknown field may be empty.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty_fields(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        empty = [
            name
            for name, value in given.items()
            if value is None or (name not in cls.model_fields and value in ("", [], {}))
        ]
        return {n: v for n, v in given.items() if n not in empty} if empty else given


class BudgetOptions(Options):
    """Limits of the answer, as ``Budget`` of the contract has them."""

    max_sentences: int = Field(default=_BUDGET.max_sentences, ge=1, le=100)
    max_retrievals: int = Field(default=_BUDGET.max_retrievals, ge=0, le=100)
    max_tokens: int | None = Field(default=None, ge=1, le=8192)
    timeout_s: float | None = Field(default=None, gt=0, le=3600, allow_inf_nan=False)


class ScaarOptions(Options):
    """How to answer. In OpenAI's clients: ``extra_body={"scaar": {...}}``."""

    policy: str | None = Field(default=None, description="Policy; default: that of the model.")
    settings: Mapping[str, bool | int | float | str] = Field(
        default_factory=dict, description='Settings of the policy, such as {"theta": 0.3}.'
    )
    index: str | None = Field(
        default=None,
        description="Index; default: that of the model. Not used by a policy that never retrieves.",
    )
    filters: Mapping[str, Values] = Field(
        default_factory=dict, description="Values that passages must have, by metadata field."
    )
    budget: BudgetOptions = BudgetOptions()
    on_failure: Literal["fail", "accept_draft"] = "fail"
    prompt_profile: str = ""
    rewrite: Literal["auto", "never"] = Field(
        default="auto", description="Whether a follow-up becomes a standalone question."
    )
    answer: Literal["short", "text"] = Field(
        default="text",
        description="Form: the text as the model writes it, or with a conclusion as short answer.",
    )
    citations: Literal["annotations", "markdown", "none"] | None = Field(
        default=None, description="How passages are cited; default: the setting of the gateway."
    )
    tools: Literal["ignore", "reject"] | None = Field(
        default=None,
        description="Requests that offer tools: answered without them, or rejected; "
        "default: the setting of the gateway.",
    )
    events: bool = Field(
        default=False, description="Report every decision, in the JSON form of AnswerEvent."
    )


Temperature = Annotated[float | None, Field(ge=0, le=2)]
"""Accepted and ignored: answers are decoded greedily."""
