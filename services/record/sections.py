"""The parts of the page: each of the evaluations of one name, and what it shows of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from record.kept import Kept
from record.telling import (
    tell_chosen,
    tell_curve,
    tell_differences,
    tell_marks,
    tell_matched,
)
from scaar.evaluator.joining.composing import compose_joined
from scaar.evaluator.joining.facts import short_model_of
from scaar.evaluator.joining.joined import join, read_finished
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.brought import tell_brought
from scaar.evaluator.report.by_label import break_down
from scaar.evaluator.report.capped import count_capped
from scaar.evaluator.report.cells import measure_title
from scaar.evaluator.report.combinations import combine
from scaar.evaluator.report.curves import draw_curves
from scaar.evaluator.report.frontier_figure import draw_frontiers
from scaar.evaluator.report.matched_retrievals import match_retrievals
from scaar.evaluator.report.measured import analyse_results
from scaar.evaluator.report.model import Figure, Item, Report, Section, Table
from scaar.evaluator.report.origin import say_how, say_what_made_it
from scaar.evaluator.report.summary import summarise


@dataclass(frozen=True, slots=True)
class Shown:
    """What a part shows: in full, folded, and in sentences made of the numbers."""

    full: tuple[Item, ...]
    folded: tuple[Item, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the page, of the evaluations whose name begins as ``of`` says.

    Where it takes several kinds of results, ``of`` has the beginning of each. ``least`` is how
    many evaluations it takes.
    """

    title: str
    of: str | tuple[str, ...]
    what: str
    show: Callable[[Sequence[Path]], Shown]
    least: int = 1

    @property
    def stem(self) -> str:
        """What the names of its figures begin with."""
        return self._beginnings[-1].rstrip("-")

    def among(self, kept: Sequence[Kept]) -> list[Kept]:
        """What of the results the part is of; nothing where it cannot be made of them."""
        mine = [each for each in kept if each.name.startswith(self._beginnings)]
        whole = all(any(x.name.startswith(each) for x in mine) for each in self._beginnings)
        return mine if whole and len(mine) >= self.least else []

    @property
    def _beginnings(self) -> tuple[str, ...]:
        return (self.of,) if isinstance(self.of, str) else self.of


def _policies(folders: Sequence[Path]) -> Shown:
    analysis = _analysed(folders[0])
    what = measure_title(analysis.measure)
    main, *differences = summarise(analysis).items
    matched, *further = match_retrievals(analysis).items
    return Shown(
        (main, matched, *_figures(draw_frontiers(analysis))[:1]),
        (*differences, *further, *_items(count_capped(analysis))),
        (
            tell_chosen(analysis, what),
            tell_differences(analysis, what),
            tell_matched(analysis, what, 1.0),
            tell_matched(analysis, what, 1.5),
        ),
    )


def _labels(folders: Sequence[Path]) -> Shown:
    items = _items(break_down(_analysed(folders[0])))
    scores = tuple(each for each in items if isinstance(each, Table) and "score" in each.name)
    return Shown(scores, tuple(each for each in items if each not in scores))


def _brought(folders: Sequence[Path]) -> Shown:
    return Shown(_items(tell_brought(_analysed(folders[0]))))


def _cost(folders: Sequence[Path]) -> Shown:
    main, *_ = summarise(_analysed(folders[0])).items
    return Shown((main,))


def _combinations(folders: Sequence[Path]) -> Shown:
    found = []
    for folder in folders:
        analysis = _analysed(folder)
        model = short_model_of(analysis.evaluation)
        tables = (each for each in _items(combine(analysis)) if isinstance(each, Table))
        found += [
            (replace(each, title=f"{each.title}, {model}"), f"{model}: {tell_marks(each)}")
            for each in tables
            if each.name == "combinations"
        ]
    full, *others = (table for table, _ in found)
    return Shown((full,), (*others, *_of_one(folders)), tuple(told for _, told in found))


def _of_one(folders: Sequence[Path]) -> tuple[Item, ...]:
    """The wins where there is one evaluation alone, and what its policies came to."""
    if len(folders) > 1:
        return ()
    analysis = _analysed(folders[0])
    wins = (each for each in _items(combine(analysis)) if isinstance(each, Table))
    return (*(each for each in wins if each.name == "wins"), *summarise(analysis).items)


def _wins(folders: Sequence[Path]) -> Shown:
    joined = join(folders)
    items = _all_items(compose_joined(joined))
    full = tuple(each for each in items if _name(each).startswith("wins"))
    return Shown(full, tuple(each for each in items if _name(each) == "joined_policies"))


def _joined(folders: Sequence[Path]) -> Shown:
    joined = join(folders)
    items = _all_items(compose_joined(joined))
    told = (
        f"{short_model_of(each.evaluation)}: {tell_chosen(each, measure_title(each.measure))}"
        for each in joined.analyses
    )
    return Shown(
        tuple(each for each in items if _name(each) == "joined_policies"), told=tuple(told)
    )


def _sweep(folders: Sequence[Path]) -> Shown:
    items = _all_items(compose_joined(join(folders)))
    figures = tuple(each for each in items if isinstance(each, Figure))
    told = (line for each in figures[:1] for line in tell_curve(each))
    tables = (each for each in items if isinstance(each, Table))
    swept = tuple(each for each in tables if each.name.startswith("sweep"))
    return Shown(figures, swept, tuple(told))


def _curves(folders: Sequence[Path]) -> Shown:
    analysis = _analysed(folders[0])
    figures = _figures(draw_curves(analysis))
    told = (line for each in figures[:1] for line in tell_curve(each))
    return Shown(figures[:1], (*figures[1:], *_settings(analysis)), tuple(told))


def _variants(folders: Sequence[Path]) -> Shown:
    analysis = _analysed(folders[0])
    what = measure_title(analysis.measure)
    main, *differences = summarise(analysis).items
    matched, *further = match_retrievals(analysis).items
    several = any(len(each.candidates) > 1 for each in analysis.contenders)
    rest = (matched, *further) if several else ()
    told = (tell_chosen(analysis, what), tell_differences(analysis, what))
    return Shown((main,), (*differences, *rest), told)


def _origin(folders: Sequence[Path]) -> Shown:
    analysis = _analysed(folders[0])
    made, settings = say_what_made_it(analysis).items
    return Shown((*say_how(analysis).items, made), (settings,))


PARTS = (
    Part("Policies", "policies", "Every policy at the setting chosen for it.", _policies),
    Part(
        "By label of question",
        "policies",
        "The same answers, by every label that the questions have.",
        _labels,
    ),
    Part(
        "What retrievals brought",
        "policies",
        "Whether what was looked up was what the question needs, and what was made of it.",
        _brought,
    ),
    Part(
        "What answers cost",
        "cost",
        "Calls, tokens and time at the recommended settings, asked one question at a time.",
        _cost,
    ),
    Part(
        "Triggers by queries",
        "weighting-",
        "Every way to weigh what is uncertain with every query (SCAAR, Table 3), by model.",
        _combinations,
    ),
    Part(
        "What wins how often",
        "weighting-",
        "The triggers against each other at equal settings (SCAAR, Figure 2), over all models.",
        _wins,
        least=2,
    ),
    Part(
        "Models beside each other",
        "models-",
        "Policies with each of the models, on the same questions.",
        _joined,
        least=2,
    ),
    Part(
        "Words of style",
        "style-",
        "The same worlds, told with more and more words that nobody can foresee and that do not "
        "matter.",
        _sweep,
        least=2,
    ),
    Part(
        "The share of words asked with",
        "alpha",
        "scaar at its recommended theta, asking with more or fewer of the confident words "
        "(SCAAR, Figure 4).",
        _curves,
    ),
    Part("Passages a query", "top-k", "Policies that are given more or fewer passages.", _curves),
    Part(
        "Words or tokens",
        "granularity",
        "Judging whole words, or each of their tokens.",
        _variants,
    ),
    Part(
        "Whether it is the contributions",
        "scorer",
        "scaar by its scorer and by controls that know less, beside flare's variants.",
        _variants,
    ),
)
ORIGIN = Part("How it was made", "policies", "Of the comparison of policies.", _origin)


@lru_cache(maxsize=2)
def _analysed(folder: Path) -> Analysis:
    return analyse_results(read_finished(folder))


def _items(section: Section | None) -> tuple[Item, ...]:
    return section.items if section else ()


def _all_items(report: Report) -> tuple[Item, ...]:
    return tuple(item for section in report.sections for item in section.items)


def _name(item: Item) -> str:
    return "" if isinstance(item, str) else item.name


def _figures(section: Section | None) -> tuple[Figure, ...]:
    return tuple(each for each in _items(section) if isinstance(each, Figure))


def _settings(analysis: Analysis) -> tuple[Item, ...]:
    return say_what_made_it(analysis).items[1:]
