"""The parts of the page: each shows the evaluations whose names begin alike."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from record.ceiling import (
    DEPLOYED,
    FRONTIERS,
    ORACLES,
    detections_table,
    differences_table,
    distance_table,
    frontier_figure,
    matched_sentences,
    matched_table,
    points_table,
    pooled,
    reference_score,
    worlds_costs,
)
from record.cost_model import coefficients_table, latency_table, winners_table
from record.evaluations import FinishedEvaluation
from record.factorial import effects_table, factorial_table
from record.pool import TUNED, Pool
from record.sentences import (
    chosen_sentence,
    curve_sentences,
    differences_sentence,
    marks_sentence,
    matched_sentence,
)
from scaar.evaluator.report.analysis import Analysis, analyse_results
from scaar.evaluator.report.by_label import break_down
from scaar.evaluator.report.capped_thresholds import count_capped
from scaar.evaluator.report.cells import measure_title
from scaar.evaluator.report.combinations import combine
from scaar.evaluator.report.curves import draw_curves
from scaar.evaluator.report.frontier_figure import draw_frontiers
from scaar.evaluator.report.matched_budgets import match_retrievals
from scaar.evaluator.report.model import Figure, Item, Report, Section, Table
from scaar.evaluator.report.provenance import describe_comparison, describe_provenance
from scaar.evaluator.report.retrieval_outcomes import report_support_recall
from scaar.evaluator.report.summary import summarise
from scaar.evaluator.statistics.cost_model import fit
from scaar.evaluator.studies.joining.evaluations import join, read_finished
from scaar.evaluator.studies.joining.facts import short_model_of
from scaar.evaluator.studies.joining.report import compose_joined


@dataclass(frozen=True, slots=True)
class PartContent:
    """The items of a part, shown in full or folded, and sentences made from the numbers."""

    full: tuple[Item, ...]
    folded: tuple[Item, ...] = ()
    sentences: tuple[str, ...] = ()


Content = Callable[[Sequence[Path]], PartContent]
"""Makes the content of a part from the folders of its evaluations."""
FromPool = Callable[[Pool], Item | None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the page, made from the evaluations whose names begin with ``prefixes``.

    A part that needs several kinds of results has the prefix of each. ``minimum`` is the number of
    evaluations that it needs. A part with ``commands`` False shows those of an earlier part.
    """

    title: str
    prefixes: str | tuple[str, ...]
    description: str
    content: Content
    minimum: int = 1
    commands: bool = True

    @property
    def stem(self) -> str:
        """The prefix of the names of its figures."""
        return self._prefixes[-1].rstrip("-").replace("/", "-")

    def among(self, finished: Sequence[FinishedEvaluation]) -> list[FinishedEvaluation]:
        """Return the evaluations of the part; none if some that it needs are missing."""
        own = [each for each in finished if each.name.startswith(self._prefixes)]
        complete = all(any(x.name.startswith(each) for x in own) for each in self._prefixes)
        return own if complete and len(own) >= self.minimum else []

    @property
    def _prefixes(self) -> tuple[str, ...]:
        return (self.prefixes,) if isinstance(self.prefixes, str) else self.prefixes


def without_columns(
    content: PartContent, names: Collection[str], *, note: str | None = None
) -> PartContent:
    """Remove columns from all tables; ``note`` replaces the notes of the tables."""

    def reduced(item: Item) -> Item:
        if not isinstance(item, Table):
            return item
        places = [at for at, column in enumerate(item.columns) if column.name not in names]
        return replace(
            item,
            columns=tuple(item.columns[at] for at in places),
            rows=tuple(tuple(cells[at] for at in places) for cells in item.rows),
            note=item.note if note is None else note,
        )

    return replace(
        content,
        full=tuple(reduced(item) for item in content.full),
        folded=tuple(reduced(item) for item in content.folded),
    )


def _policies(folders: Sequence[Path]) -> PartContent:
    analysis = _analysed(folders[0])
    what = measure_title(analysis.measure)
    main, *differences = summarise(analysis).items
    matched, *further = match_retrievals(analysis).items
    return PartContent(
        (main, matched, *_figures(draw_frontiers(analysis))[:1]),
        (*differences, *further, *_items(count_capped(analysis))),
        (
            chosen_sentence(analysis, what),
            differences_sentence(analysis, what),
            matched_sentence(analysis, what, 1.0),
            matched_sentence(analysis, what, 1.5),
        ),
    )


def _labels(folders: Sequence[Path]) -> PartContent:
    items = _items(break_down(_analysed(folders[0])))
    scores = tuple(each for each in items if isinstance(each, Table) and "score" in each.name)
    return PartContent(scores, tuple(each for each in items if each not in scores))


def _outcomes(folders: Sequence[Path]) -> PartContent:
    return PartContent(_items(report_support_recall(_analysed(folders[0]))))


def _cost(folders: Sequence[Path]) -> PartContent:
    analysis = _analysed(folders[0])
    main, *_ = summarise(analysis).items
    tested = len(analysis.splits.test.questions)
    note = (
        f"Means per question over {tested} of the {len(analysis.table.questions)} questions. The "
        "table has no scores: so few questions do not order the policies."
    )
    return without_columns(
        PartContent((main,)),
        {*analysis.table.measures, "s_eff", "candidates", "setting"},
        note=note,
    )


def _combinations(folders: Sequence[Path]) -> PartContent:
    found = []
    for folder in folders:
        analysis = _analysed(folder)
        model = short_model_of(analysis.evaluation)
        tables = (each for each in _items(combine(analysis)) if isinstance(each, Table))
        found += [
            (replace(each, title=f"{each.title}, {model}"), f"{model}: {marks_sentence(each)}")
            for each in tables
            if each.name == "combinations"
        ]
    full, *others = (table for table, _ in found)
    return PartContent(
        (full,), (*others, *_of_one(folders)), tuple(sentence for _, sentence in found)
    )


def _of_one(folders: Sequence[Path]) -> tuple[Item, ...]:
    """Return the wins and the summary of a single evaluation; nothing of several."""
    if len(folders) > 1:
        return ()
    analysis = _analysed(folders[0])
    wins = (each for each in _items(combine(analysis)) if isinstance(each, Table))
    return (*(each for each in wins if each.name == "wins"), *summarise(analysis).items)


def _wins(folders: Sequence[Path]) -> PartContent:
    joined = join(folders)
    items = _all_items(compose_joined(joined))
    full = tuple(each for each in items if _name(each).startswith("wins"))
    return PartContent(full, tuple(each for each in items if _name(each) == "joined_policies"))


def _joined(folders: Sequence[Path]) -> PartContent:
    joined = join(folders)
    items = _all_items(compose_joined(joined))
    sentences = (
        f"{short_model_of(each.evaluation)}: {chosen_sentence(each, measure_title(each.measure))}"
        for each in joined.analyses
    )
    return PartContent(
        tuple(each for each in items if _name(each) == "joined_policies"),
        sentences=tuple(sentences),
    )


def draw_sweep(folders: Sequence[Path]) -> PartContent:
    """Return the curves of evaluations that differ in one parameter of the data set."""
    items = _all_items(compose_joined(join(folders)))
    figures = tuple(each for each in items if isinstance(each, Figure))
    sentences = (line for each in figures[:1] for line in curve_sentences(each))
    tables = (each for each in items if isinstance(each, Table))
    swept = tuple(each for each in tables if each.name.startswith("sweep"))
    return PartContent(figures, swept, tuple(sentences))


def _curves(folders: Sequence[Path]) -> PartContent:
    analysis = _analysed(folders[0])
    figures = _figures(draw_curves(analysis))
    sentences = (line for each in figures[:1] for line in curve_sentences(each))
    return PartContent(figures[:1], (*figures[1:], *_settings(analysis)), tuple(sentences))


def compare_settings(folders: Sequence[Path]) -> PartContent:
    """Return the tables of one evaluation: every variant at its chosen setting."""
    analysis = _analysed(folders[0])
    what = measure_title(analysis.measure)
    main, *differences = summarise(analysis).items
    matched, *further = match_retrievals(analysis).items
    several = any(len(each.candidates) > 1 for each in analysis.variants)
    rest = (matched, *further) if several else ()
    sentences = (chosen_sentence(analysis, what), differences_sentence(analysis, what))
    return PartContent((main,), (*differences, *rest), sentences)


def describe_origin(folders: Sequence[Path]) -> PartContent:
    """Return data, models and seeds of one evaluation."""
    analysis = _analysed(folders[0])
    made, settings = describe_provenance(analysis).items
    return PartContent((*describe_comparison(analysis).items, made), (settings,))


def name_origin(folders: Sequence[Path]) -> PartContent:
    """Return data, models and seeds of the first evaluation."""
    return PartContent(describe_provenance(_analysed(folders[0])).items[:1])


def of_pool(
    *full: FromPool,
    folded: Sequence[FromPool] = (),
    sentences: Callable[[Pool], Iterable[str]] = lambda _: (),
) -> Content:
    """Return what shows all evaluations of a part as one pool; items that are None are left out."""

    def content(folders: Sequence[Path]) -> PartContent:
        pool = pooled(folders)
        shown, hidden = (
            tuple(item for make in some if (item := make(pool)) is not None)
            for some in (full, folded)
        )
        return PartContent(shown, hidden, tuple(sentences(pool)))

    return content


compare_worlds = of_pool(
    *(matched_table, frontier_figure, distance_table, points_table),
    folded=(differences_table, worlds_costs),
    sentences=matched_sentences,
)
"""Shows policies and oracles at matched budgets, over worlds."""
detect_wrong_drafts = of_pool(detections_table)
"""Shows how well policies detect wrong drafts, over worlds."""
compare_factors = of_pool(factorial_table, folded=(effects_table,))
"""Shows triggers with equal queries, over worlds."""


def _cost_model(folders: Sequence[Path]) -> PartContent:
    (timed,) = (each for each in folders if each.name == "cost")
    pool = pooled(each for each in folders if each != timed)
    table = _analysed(timed).table
    model = fit(table.column)
    return PartContent(
        (coefficients_table(model), winners_table(pool, model, reference_score(pool))),
        (latency_table(table),),
    )


_OF_WORLDS = tuple(f"{kind}-" for kind in (FRONTIERS, DEPLOYED, TUNED, ORACLES))

PARTS = (
    Part(
        "Policies",
        "policies",
        "Every policy at the setting chosen for it. Generated tokens include those that the model "
        "writes while a draft is judged; their number depends on the speed of the machine.",
        _policies,
    ),
    Part(
        "By label of question",
        "policies",
        "The same answers, by every label of the questions.",
        _labels,
    ),
    Part(
        "Retrieval outcomes",
        "policies",
        "Whether retrievals found supporting passages, and whether the model used them.",
        _outcomes,
    ),
    Part(
        "Policies and oracles",
        _OF_WORLDS,
        "Policies at matched budgets of searches on worlds that no setting was chosen on, with "
        "oracles, which know the facts of the world and cannot be served.",
        compare_worlds,
    ),
    Part(
        "Detection of wrong drafts",
        _OF_WORLDS,
        "How well each policy separates wrong drafts from right ones, on the same answers.",
        detect_wrong_drafts,
    ),
    Part(
        "Cost of answers",
        "cost",
        "Calls, tokens and time at the recommended settings, one question at a time.",
        _cost,
    ),
    Part(
        "Cost model",
        ("cost", *_OF_WORLDS),
        "Which policy reaches a score in the least time, by the time of a search and of the model.",
        _cost_model,
    ),
    Part(
        "Triggers by queries at a matched budget",
        "factorial-",
        "Triggers with the same queries, with and without the exclusion of passages that the "
        "answer has already read, on the worlds of the oracles.",
        compare_factors,
    ),
    Part(
        "Triggers by queries",
        "weighting-",
        "Every weighting of uncertainty with every query (SCAAR, Table 3), by model.",
        _combinations,
    ),
    Part(
        "What wins how often",
        "weighting-",
        "The triggers compared at equal settings (SCAAR, Figure 2), over all models.",
        _wins,
        minimum=2,
    ),
    Part(
        "Models compared",
        "models-",
        "The same policies and questions with each model.",
        _joined,
        minimum=2,
    ),
    Part(
        "Words of style",
        "style-",
        "The same worlds, with an increasing rate of words that cannot be foreseen and do not "
        "matter.",
        draw_sweep,
        minimum=2,
    ),
    Part(
        "The share of words in the query",
        "alpha",
        "scaar at its recommended theta, with more or fewer of the confident words in the query "
        "(SCAAR, Figure 4).",
        _curves,
    ),
    Part("Passages per query", "top-k", "Policies with more or fewer passages per query.", _curves),
    Part(
        "Words or tokens",
        "granularity",
        "Judging whole words or each of their tokens.",
        compare_settings,
    ),
    Part(
        "Controls of the contributions",
        "scorer",
        "scaar with its scorer and with controls that know less, compared with variants of flare.",
        compare_settings,
    ),
)
ORIGIN = Part("Provenance", "policies", "Of the comparison of policies.", describe_origin)


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
    return describe_provenance(analysis).items[1:]
