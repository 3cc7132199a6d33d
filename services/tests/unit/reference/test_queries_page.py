"""The figures of docs/queries.md come from the given runs."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from reference import queries
from reference.queries import BY, BY_EXCLUSION, PAGE, REFERENCE, exclusion_part, part
from scaar.core.controls import Control
from scaar.core.types import ScorerDescription
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.database.studies import open_study
from scaar.evaluator.studies.queries.drafts import DraftOrigin
from scaar.evaluator.studies.queries.formulations import (
    Exclusion,
    FormulationVariant,
    plan_formulations,
)
from scaar.evaluator.studies.queries.records import (
    CUTS,
    QueryEvaluation,
    QuestionRetrievals,
    Reading,
    Retrieval,
)
from scaar.evaluator.studies.queries.store import QUERIES, RETRIEVALS

RANKS = {
    "question": (1, 0),
    REFERENCE: (1, 0),
    "pfq:alpha=50": (1, 4),
    "pfq:alpha=50,scorer=idf": (0, 7),
}
VARIANTS = plan_formulations(["question", REFERENCE, "pfq"], [50], [None, Control.IDF])


def retrieval(ranks: tuple[int, ...]) -> Retrieval:
    readings = (
        Reading(tuple(rank if rank <= cut else 0 for rank in ranks), passages=cut, fresh=cut)
        for cut in CUTS
    )
    return Retrieval(0, "a b c d", tuple(readings))


def written(
    folder: Path,
    scorer: str,
    variants: tuple[FormulationVariant, ...] = VARIANTS,
    ranks: Mapping[str, tuple[int, ...]] = RANKS,
) -> Path:
    """Write a run in which every question retrieves the same passages."""
    questions = [Question(f"q{n}", "Who?", ("A",), f"q{n}", supports=("a", "b")) for n in range(8)]
    evaluation = QueryEvaluation(
        *("1", "2026-01-01", DatasetOrigin("jsonl", "q", 0, 8, "c"), DraftOrigin("d", "f", "s")),
        variants,
        {
            "none": ScorerDescription(scorer, "r1", "onnx", 9),
            "idf": ScorerDescription("wordfreq+idf", "r2", "wordfreq", 9),
        },
        *("films", "v" * 64, 1234),
    )
    found = {label: (retrieval(some),) for label, some in ranks.items()}

    async def write() -> None:
        async with open_study(folder, QUERIES, evaluation, questions) as store:
            made = [QuestionRetrievals(each.id, found) for each in questions]
            await store.part(RETRIEVALS).add(made)

    asyncio.run(write())
    return folder


def test_a_part_has_every_formulation_with_its_scorer(tmp_path: Path) -> None:
    runs = [written(tmp_path / "one", "minilm"), written(tmp_path / "two", "other")]
    made, figures, controls = part(runs, resamples=20).split("\n\n")
    assert made.startswith(
        "8 questions, 8 sentences, 1,234 passages (index vvvvvvvvvvvv), scaar 1."
    )
    assert "minilm: revision r1. other: revision r1." in made
    rows = [line.strip("| ").split(" | ") for line in figures.splitlines()[2:]]
    assert [row[:2] for row in rows] == [
        ["`question`", ""],
        [f"`{REFERENCE}`", ""],
        ["`pfq:alpha=50`", "minilm"],
        ["`pfq:alpha=50`", "wordfreq+idf"],
        ["`pfq:alpha=50`", "other"],
        ["`pfq:alpha=50`", "wordfreq+idf"],
    ]
    at_3, at_5, at_10, terms, per_terms, together, more, _ = rows[2][2:]
    assert (at_3, at_5) == ("0.500 [0.500, 0.500]", "1.000 [1.000, 1.000]")
    assert (at_10, terms) == ("1.000 [1.000, 1.000]", "4.0")
    assert per_terms == "2.500 [2.500, 2.500]"
    assert together == "1.000 [1.000, 1.000]"
    assert more == "+0.500 [+0.500, +0.500]"
    assert "`pfq:alpha=50` | minilm | wordfreq+idf | +0.500" in controls


def test_the_part_of_exclusion_compares_with_the_published_query_and_its_control(
    tmp_path: Path,
) -> None:
    variants = plan_formulations(["question+pfq"], [50], [None], tuple(Exclusion))
    ranks = dict(zip((each.label for each in variants), ((1, 0), (1, 4), (1, 5)), strict=True))
    run = written(tmp_path / "run", "minilm", variants, ranks)
    _, figures, differences = exclusion_part([run], resamples=20).split("\n\n")
    seen = figures.splitlines()[3].strip("| ").split(" | ")
    assert seen == [
        *("`question+pfq:alpha=50`", "`seen`"),
        *["1.000 [1.000, 1.000]"] * 3,
        *("5.0", "5.0", "1.0"),
    ]
    seen = differences.splitlines()[3].strip("| ").split(" | ")
    # From PFQ50, from itself, and from the control.
    assert (seen[2], seen[4], seen[6]) == (
        *("+0.500 [+0.500, +0.500]", ""),
        "+0.000 [+0.000, +0.000]",
    )
    assert seen[-3:] == ["8", "0", "0"]
    assert f"<!-- made by {BY_EXCLUSION}: hotpotqa -->" in PAGE.read_text()


def test_the_command_replaces_the_parts_of_the_page(tmp_path, monkeypatch, capsys) -> None:
    page = tmp_path / "queries.md"
    page.write_text(f"# Queries\n<!-- made by {BY}: films -->\n<!-- end -->\nThe end.\n")
    monkeypatch.setattr(queries, "PAGE", page)
    run = written(tmp_path / "run", "minilm")
    monkeypatch.setattr("sys.argv", ["queries", f"films={run}"])
    assert queries.main() == 0
    assert "| `pfq:alpha=50` | minilm |" in page.read_text()
    assert page.read_text().endswith("<!-- end -->\nThe end.\n")
    for wrong, said in (
        ("films", "usage:"),
        (f"others={run}", "has markers"),
        ("films=/no", "contains no"),
    ):
        monkeypatch.setattr("sys.argv", ["queries", wrong])
        assert queries.main() > 0
        assert said in capsys.readouterr().err
    assert f"<!-- made by {BY}: hotpotqa -->" in PAGE.read_text()
