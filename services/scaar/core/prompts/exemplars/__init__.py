"""Sets of few-shot examples of the layouts, by name. All are the project's own."""

from collections.abc import Mapping
from types import MappingProxyType

from scaar.core.prompts.exemplars.exemplar_set import ExemplarSet
from scaar.core.prompts.exemplars.general import GENERAL
from scaar.core.prompts.exemplars.hotpotqa import HOTPOTQA
from scaar.core.prompts.exemplars.iirc import IIRC
from scaar.core.prompts.exemplars.mmlu import MMLU
from scaar.core.prompts.exemplars.nq import NQ
from scaar.core.prompts.exemplars.strategyqa import STRATEGYQA
from scaar.core.prompts.exemplars.triviaqa import TRIVIAQA
from scaar.core.prompts.exemplars.two_wiki import TWO_WIKI

EXEMPLARS: Mapping[str, ExemplarSet] = MappingProxyType(
    {
        each.name: each
        for each in (GENERAL, TWO_WIKI, HOTPOTQA, IIRC, STRATEGYQA, NQ, TRIVIAQA, MMLU)
    }
)
