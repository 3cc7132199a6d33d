"""Evaluations that are joined, each with its own analysis, and what they differ in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.evaluator.joining.axes import Axis, Value, axes_of
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.measured import analyse_results
from scaar.evaluator.report.options import ReportOptions
from scaar.evaluator.results import Results
from scaar.evaluator.store.folder import read_results


@dataclass(frozen=True, slots=True)
class Joined:
    """Evaluations by the names of their folders, all measured in the same."""

    names: tuple[str, ...]
    analyses: tuple[Analysis, ...]
    axes: tuple[Axis, ...]

    @property
    def measure(self) -> str:
        """What they are measured in."""
        return self.analyses[0].measure

    def policies(self) -> tuple[str, ...]:
        """The policies of any of them, in the order in which they first stand there."""
        names = (each.name for analysis in self.analyses for each in analysis.contenders)
        return tuple(dict.fromkeys(names))

    def sweeps(self) -> Iterator["Sweep"]:
        """Where evaluations differ in one number alone: each such number, and all else by it."""
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
                    told = [f"{each.name} {x}" for each, x in zip(others, equal, strict=True)]
                    ordered = tuple(sorted(points, key=lambda point: point[0]))
                    yield Sweep(axis.name, ", ".join(told), ordered)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Evaluations that differ in one number, rising; ``equal`` says what else they are of."""

    name: str
    equal: str
    points: tuple[tuple[float, Analysis], ...]


def join(folders: Sequence[Path], options: ReportOptions | None = None) -> Joined:
    """The evaluations of some folders, joined.

    Raises:
        InvalidRequest: there are fewer than two, one is not at its end, or two do not go together:
            naming them, and what is different.
        NotFound: a folder holds no evaluation.
        DataCorrupt: naming the folder and the file that does not hold together.
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
    """The results of an evaluation that came to its end.

    Raises:
        InvalidRequest: it has not.
        NotFound: there is no evaluation.
        DataCorrupt: naming folder and file.
    """
    try:
        results = read_results(folder)
    except DataCorrupt as error:
        text = error.message if str(folder) in error.message else f"{folder}: {error.message}"
        raise DataCorrupt(text) from error
    if results.missing:
        planned = len(results.predictions) + results.missing
        told = f"{results.missing} of {planned} predictions are missing"
        text = f"{folder} is unfinished: {told}; its own command goes on with it"
        raise InvalidRequest.of("DIR", text)
    return results


def _for_any(options: ReportOptions | None) -> ReportOptions:
    """The options without a reference: every evaluation stands by itself."""
    return replace(options or ReportOptions(), reference=None)


def _check_measures(names: Sequence[str], analyses: Sequence[Analysis]) -> None:
    for name, each in zip(names, analyses, strict=True):
        if each.measure != analyses[0].measure:
            told = f"{names[0]} is measured in {analyses[0].measure}, {name} in {each.measure}"
            raise InvalidRequest.of("--measure", f"must be named: {told}")


def _short(folders: Sequence[Path]) -> tuple[str, ...]:
    """The last parts of the paths, as many as tell them apart."""
    parts = [folder.resolve().parts for folder in folders]
    for count in range(1, max(map(len, parts)) + 1):
        names = tuple("/".join(each[-count:]) for each in parts)
        if len(set(names)) == len(names):
            return names
    raise InvalidRequest.of("DIR", "names a folder twice")
