"""Model ids: ``scaar``, ``scaar/POLICY``, ``scaar@INDEX`` and ``scaar/POLICY@INDEX``."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scaar.core.errors import NotFound
from scaar.core.policies.no_retrieval import NO_RETRIEVAL
from scaar.core.types import IndexDescription, PolicyDescription

_MODEL = re.compile(r"scaar(?:/(?P<policy>[^/@\s]{1,128}))?(?:@(?P<index>[^/@\s]{1,64}))?")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A policy and an index; empty for the default ones."""

    policy: str = ""
    index: str = ""

    @classmethod
    def parse(cls, text: str) -> "ModelName":
        """Return the policy and the index that a model id names.

        Raises:
            NotFound: the text is no model id of this form.
        """
        match = _MODEL.fullmatch(text)
        if match is None:
            shown = text if len(text) <= 100 else f"{text[:100]}…"
            form = "scaar, scaar/POLICY, scaar@INDEX or scaar/POLICY@INDEX"
            raise NotFound(f"the model {shown!r} does not exist; models are named {form}")
        return cls(match["policy"] or "", match["index"] or "")

    def __str__(self) -> str:
        policy = f"/{self.policy}" if self.policy else ""
        index = f"@{self.index}" if self.index else ""
        return f"scaar{policy}{index}"


ALONE = ModelName(NO_RETRIEVAL.name)
"""The language model without retrieval."""


def is_of_few(name: ModelName) -> bool:
    """Return whether a model is of the short list: the default policy, or the model alone."""
    return not name.policy or name == ALONE


def model_names(
    policies: Iterable[PolicyDescription],
    indexes: Iterable[IndexDescription],
    *,
    default_index: str,
) -> Iterator[ModelName]:
    """Yield a model for the defaults, for every policy that can be served, and for its indexes.

    Damaged indexes are left out, and so is the default index, which a model without an index uses.
    """
    served = [each for each in policies if each.is_served]
    others = [each.name for each in indexes if not each.damage and each.name != default_index]
    yield ModelName()
    for index in others:
        yield ModelName(index=index)
    for each in served:
        yield ModelName(each.policy.name)
        if each.uses_retriever:
            for index in others:
                yield ModelName(each.policy.name, index)
