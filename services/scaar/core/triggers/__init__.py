"""Triggers: the rules that find a draft uncertain, one module each, and their table."""

from scaar.core.registry import Registry
from scaar.core.triggers.attention import ATTENTION
from scaar.core.triggers.corpus_counts import CORPUS_COUNTS
from scaar.core.triggers.etc import ETC
from scaar.core.triggers.etc_reference import ETC_REFERENCE
from scaar.core.triggers.exp_raw import EXP_RAW
from scaar.core.triggers.flare import FLARE
from scaar.core.triggers.learned import LEARNED
from scaar.core.triggers.margin import MARGIN
from scaar.core.triggers.max_entropy import MAX_ENTROPY
from scaar.core.triggers.mean_entropy import MEAN_ENTROPY
from scaar.core.triggers.msp import MSP
from scaar.core.triggers.perplexity import PERPLEXITY
from scaar.core.triggers.rind import RIND
from scaar.core.triggers.rind_reference import RIND_REFERENCE
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.surprisal import SURPRISAL
from scaar.core.triggers.surprisal_mean import SURPRISAL_MEAN
from scaar.core.triggers.surprisal_sum import SURPRISAL_SUM
from scaar.core.triggers.tokensar import TOKENSAR
from scaar.core.triggers.unsupported import UNSUPPORTED

__all__ = ["TRIGGERS", "Judgement", "ThetaRange", "TriggerRule"]

TRIGGERS = Registry(
    "trigger",
    "scaar.triggers",
    TriggerRule,
    {
        "flare": FLARE,
        "exp_raw": EXP_RAW,
        "surprisal": SURPRISAL,
        "attention": ATTENTION,
        "rind": RIND,
        "rind_reference": RIND_REFERENCE,
        "etc": ETC,
        "etc_reference": ETC_REFERENCE,
        "mean_entropy": MEAN_ENTROPY,
        "perplexity": PERPLEXITY,
        "max_entropy": MAX_ENTROPY,
        "surprisal_sum": SURPRISAL_SUM,
        "surprisal_mean": SURPRISAL_MEAN,
        "msp": MSP,
        "margin": MARGIN,
        "tokensar": TOKENSAR,
        "corpus_counts": CORPUS_COUNTS,
        "unsupported": UNSUPPORTED,
        "learned": LEARNED,
    },
)
