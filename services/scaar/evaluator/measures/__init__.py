"""Measures of a single answer by name: those of the core, and those that need libraries."""

from collections.abc import Callable
from inspect import signature

from scaar.core.measures import MEASURES as CORE
from scaar.core.measures import Measure
from scaar.core.registry import Registry
from scaar.evaluator.measures.bleu4 import bleu4_smoothed
from scaar.evaluator.measures.chrf import chrf
from scaar.evaluator.measures.meteor import meteor_exact_stem
from scaar.evaluator.measures.rouge import rouge1, rouge_l
from scaar.evaluator.measures.ter import ter_complement


def _problem(name: str, measure: Measure) -> str:
    """Return what is wrong with a measure of a package; empty if nothing is."""
    try:
        signature(measure).bind("", ())
    except TypeError as error:
        return f"must take the answer and the accepted answers: {error}"
    except ValueError:
        # Functions of C may have no signature.
        return ""
    return ""


MEASURES = Registry[Measure](
    "measure",
    "scaar.measures",
    Callable,
    {
        **CORE,
        "rouge1": rouge1,
        "rouge_l": rouge_l,
        "bleu4_smoothed": bleu4_smoothed,
        "meteor_exact_stem": meteor_exact_stem,
        "chrf": chrf,
        "ter_complement": ter_complement,
    },
    problem=_problem,
)
