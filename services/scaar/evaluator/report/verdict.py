"""The verdict of a report: the best policy, its cost, and its difference from the reference."""

from scaar.core.plurals import counted
from scaar.evaluator.oracles import needs_world
from scaar.evaluator.report.analysis import Analysis, Compared
from scaar.evaluator.report.cells import measure_title
from scaar.evaluator.report.model import Fact, Verdict
from scaar.evaluator.report.provenance import QUESTIONS_OF_RECORD
from scaar.evaluator.report.summary import of_setting_chosen
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.variants import PolicyVariant

SIGNIFICANT = 0.05
"""A difference is called significant if its corrected p-value is below this level."""


def state_verdict(analysis: Analysis) -> Verdict:
    """Return the policy with the highest score on the test split, and how sure that is.

    Oracles count only if every policy is one, since no orchestrator serves them. Of policies with
    the same score the one with fewer retrievals comes first. The best policy is compared with the
    reference; if it is the reference, with the policy that comes second.
    """
    scores = _estimates(analysis, analysis.measure)
    spent = _estimates(analysis, RETRIEVALS)
    served = [each for each in analysis.variants if not _is_oracle(analysis, each)]
    order = sorted(
        served or analysis.variants,
        key=lambda each: (-_rounded(scores[each]), _rounded(spent[each])),
    )
    best, title = order[0], measure_title(analysis.measure)
    ties = [each.name for each in order[1:] if _rounded(scores[each]) == _rounded(scores[best])]
    setting = analysis.table.settings[analysis.chosen(best)].label
    facts = [
        Fact("best policy" if len(order) > 1 else "policy", best.name, _named(setting, best)),
        Fact(title, _value(scores[best], 3), _interval(scores[best], 3)),
        Fact("retrievals per question", _value(spent[best], 2), _interval(spent[best], 2)),
    ]
    sentences = [_highest(best, ties, scores[best], spent[best], title)]
    if len(order) > 1:
        compared = _against(analysis, best, order)
        other = analysis.reference if best != analysis.reference else compared.variant
        sentences.append(_significance(compared, best, other))
        facts.append(_p_value(compared, best, other, analysis.reference))
    if 0 < len(served) < len(analysis.variants):
        sentences.append("Oracles are left out here.")
    return Verdict(" ".join(sentences), tuple(facts), _caution(analysis))


def _is_oracle(analysis: Analysis, variant: PolicyVariant) -> bool:
    return needs_world(analysis.table.settings[variant.candidates[0]].policy)


def _estimates(analysis: Analysis, column: str) -> dict[PolicyVariant, Estimate]:
    return {
        each: analysis.estimate(of_setting_chosen(analysis, each, column))
        for each in analysis.variants
    }


def _against(analysis: Analysis, best: PolicyVariant, order: list[PolicyVariant]) -> Compared:
    """The difference of the best policy, or of the second one, from the reference."""
    found = analysis.compare(lambda each: of_setting_chosen(analysis, each, analysis.measure))
    expected = best if best != analysis.reference else order[1]
    return next(each for each in found if each.variant == expected)


def _highest(
    best: PolicyVariant, ties: list[str], score: Estimate, spent: Estimate, title: str
) -> str:
    figures = f"{title} {_value(score, 3)} {_interval(score, 3)}".rstrip()
    cost = f"{_value(spent, 2)} retrievals per question"
    if not _rounded(score):
        return f"No policy scores above 0 in {title}."
    if ties:
        return f"{best.name} has the highest score, {figures} at {cost}, tied with {_and(ties)}."
    return f"{best.name} has the highest score: {figures} at {cost}."


def _significance(compared: Compared, best: PolicyVariant, other: PolicyVariant) -> str:
    sign = 1 if compared.variant == best else -1
    difference = round(sign * (compared.difference.value or 0.0), 3)
    gap = f"{difference:+.3f}" if difference else "0.000"
    if compared.difference.holm is None:
        return f"Its difference from {other.name}, {gap}, has no p-value."
    kept = "is significant" if compared.difference.holm < SIGNIFICANT else "is not significant"
    return (
        f"Its difference from {other.name}, {gap}, {kept} at {SIGNIFICANT:g} "
        f"(p = {compared.difference.holm:.4f}, Holm-corrected)."
    )


def _p_value(
    compared: Compared, best: PolicyVariant, other: PolicyVariant, reference: PolicyVariant
) -> Fact:
    role = "reference" if best != reference else "second best"
    value = "none" if compared.difference.holm is None else f"{compared.difference.holm:.4f}"
    return Fact(f"p against {other.name}", value, f"{role}, Holm-corrected")


def _caution(analysis: Analysis) -> str:
    count, tested = len(analysis.table.questions), len(analysis.splits.test.questions)
    parts = []
    if not analysis.splits.apart:
        parts.append("settings were chosen on the questions that they are measured on")
    if count < QUESTIONS_OF_RECORD:
        parts.append(f"{counted(tested, 'test question')} cannot show small differences")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _rounded(found: Estimate) -> float:
    """A value without the noise of summation, so that equal means compare as equal."""
    return round(found.value or 0.0, 9)


def _value(found: Estimate, decimals: int) -> str:
    return "undefined" if found.value is None else f"{found.value:.{decimals}f}"


def _interval(found: Estimate, decimals: int) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"[{found.low:.{decimals}f}, {found.high:.{decimals}f}]"


def _named(setting: str, best: PolicyVariant) -> str:
    return "" if setting == best.name else f"setting {setting}"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
