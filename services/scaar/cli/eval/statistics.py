"""Word frequencies of ``scaar eval longtail``."""

from collections.abc import Callable
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluation.questions import QuestionSample
from scaar.evaluator.datasets.corpora import open_passages
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.studies.longtail.frequencies import (
    ENGLISH,
    corpus_frequencies,
    english_frequencies,
)
from scaar.evaluator.studies.longtail.records import Labelling
from scaar.retriever.corpus.corpus import CorpusFile

OWN = "dataset"
"""Counts the passages of the data set."""
_PASSAGES = "the passages of "


def statistics_of(where: str, drawn: QuestionSample) -> Callable[[], WordStatistics]:
    """Return the function that counts words; by default the passages of lab, else English.

    Raises:
        InvalidRequest: the data set has no passages, or the file does not exist.
    """
    where = where or (OWN if drawn.kind is LAB else ENGLISH)
    if where == ENGLISH:
        return english_frequencies
    if where == OWN:
        return _own(drawn.origin)
    file = Path(where)
    if not file.is_file():
        text = f"must be {ENGLISH}, {OWN} or a file of passages; there is no file {where}"
        raise InvalidRequest.of("--frequencies", text)
    return lambda: corpus_frequencies(CorpusFile(file, metadata=False), name=file.name)


def statistics_again(where: str, labelling: Labelling) -> WordStatistics:
    """Return the counts with which labels were made; ``where`` names their file of passages.

    Raises:
        InvalidRequest: the labels were made with other counts.
    """
    then = labelling.frequencies
    if where:
        counted = corpus_frequencies(CorpusFile(Path(where), metadata=False), name=Path(where).name)
    elif then.startswith(_PASSAGES):
        counted = _own(labelling.dataset)()
    else:
        counted = english_frequencies()
    if counted.source != then:
        text = f"the labels were made with the words of {then}, not of {counted.source}"
        raise InvalidRequest.of("--frequencies", text)
    return counted


def _own(origin: DatasetOrigin) -> Callable[[], WordStatistics]:
    """Return the function that counts the passages of a data set."""
    world = origin.seed if origin.name == LAB.name else None
    path = Path(origin.path) if origin.path else None
    passages = open_passages(origin.name, path, seed=world)
    name = origin.name if world is None else f"{origin.name}:{world}"
    return lambda: corpus_frequencies(passages, name=f"{_PASSAGES}{name}")
