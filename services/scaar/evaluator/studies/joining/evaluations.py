"""Joined evaluations, each with its own analysis, and the axes in which they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.plurals import are, counted
from scaar.evaluator.report.analysis import Analysis, analyse_results
from scaar.evaluator.report.model import ReportOptions
from scaar.evaluator.results import Results
from scaar.evaluator.store.folder import read_results
from scaar.evaluator.studies.joining.axes import Axis, Value, axes_of


@dataclass(frozen=True, slots=True)
class Joined:
    """Evaluations by the names of their folders, all with the same measure."""

    names: tuple[str, ...]
    analyses: tuple[Analysis, ...]
    axes: tuple[Axis, ...]

    @property
    def measure(self) -> str:
        """The measure of all evaluations."""
        return self.analyses[0].measure

    def policies(self) -> tuple[str, ...]:
        """Return the policies of all evaluations, in the order of their first occurrence."""
        names = (each.name for analysis in self.analyses for each in analysis.variants)
        return tuple(dict.fromkeys(names))

    def sweeps(self) -> Iterator["Sweep"]:
        """Yield the groups of evaluations that differ in one number alone."""
        for axis in self.axes:
            others = [each for each in self.axes if each is not axis and each.differs]
            found: dict[tuple[Value, ...], list[tuple[float, Analysis]]] = {}
            for at, analysis in enumerate(self.analyses):
                value = axis.values[at]
                if axis.swept and isinstance(value, int | float):
                    equal = tuple(each.values[at] for each in others)
                    found.setdefault(equal, []).append((float(value), analysis))
            for equal, points in found.items():
                if len(points) > 1:
                    equals = [f"{each.name} {x}" for each, x in zip(others, equal, strict=True)]
                    ordered = tuple(sorted(points, key=lambda point: point[0]))
                    yield Sweep(axis.name, ", ".join(equals), ordered)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Evaluations that differ in one number, rising; ``equal`` names their other values."""

    name: str
    equal: str
    points: tuple[tuple[float, Analysis], ...]


def join(folders: Sequence[Path], options: ReportOptions | None = None) -> Joined:
    """Join the evaluations of several folders.

    Raises:
        InvalidRequest: there are fewer than two folders, an evaluation is unfinished, or two
            cannot be joined; names both, and what differs.
        NotFound: a folder contains no evaluation.
        DataCorrupt: naming the folder and the corrupt file.
    """
    if len(folders) < 2:
        raise InvalidRequest.of("DIR", f"must be at least two folders, not {len(folders)}")
    results = {str(folder): read_finished(folder) for folder in folders}
    if len(results) < len(folders):
        raise InvalidRequest.of("DIR", "names a folder twice")
    axes = axes_of({name: each.evaluation for name, each in results.items()})
    analyses = [analyse_results(each, _for_any(options)) for each in results.values()]
    _check_measures(tuple(results), analyses)
    return Joined(_short(folders), tuple(analyses), axes)


def read_finished(folder: Path) -> Results:
    """Return the results of a finished evaluation.

    Raises:
        InvalidRequest: the evaluation is unfinished.
        NotFound: there is no evaluation.
        DataCorrupt: naming the folder and the corrupt file.
    """
    try:
        results = read_results(folder)
    except DataCorrupt as error:
        text = error.message if str(folder) in error.message else f"{folder}: {error.message}"
        raise DataCorrupt(text) from error
    if results.missing:
        planned = len(results.predictions) + results.missing
        missing = f"{results.missing} of {counted(planned, 'prediction')} {are(results.missing)}"
        text = (
            f"{folder} is unfinished: {missing} missing; resume it with the command that started it"
        )
        raise InvalidRequest.of("DIR", text)
    return results


def _for_any(options: ReportOptions | None) -> ReportOptions:
    """The options without a reference, since evaluations are not compared."""
    return replace(options or ReportOptions(), reference=None)


def _check_measures(names: Sequence[str], analyses: Sequence[Analysis]) -> None:
    for name, each in zip(names, analyses, strict=True):
        if each.measure != analyses[0].measure:
            text = f"{names[0]} is measured in {analyses[0].measure}, {name} in {each.measure}"
            raise InvalidRequest.of("--measure", f"is required: {text}")


def _short(folders: Sequence[Path]) -> tuple[str, ...]:
    """The last parts of the paths, as many as make them unique."""
    parts = [folder.resolve().parts for folder in folders]
    for count in range(1, max(map(len, parts)) + 1):
        names = tuple("/".join(each[-count:]) for each in parts)
        if len(set(names)) == len(names):
            return names
    raise InvalidRequest.of("DIR", "names a folder twice")
