"""Where ``scaar eval longtail`` counts how often words are met."""

from collections.abc import Callable
from pathlib import Path

from scaar.cli.eval_dataset import Drawn
from scaar.core.errors import InvalidRequest
from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluator.datasets.corpora import open_passages
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.longtail.frequencies import ENGLISH, corpus_frequencies, english_frequencies
from scaar.evaluator.longtail.records import Labelling
from scaar.evaluator.results import DatasetOrigin
from scaar.retriever.corpus import CorpusFile

OWN = "dataset"
"""The passages that the data set brings."""
_PASSAGES = "the passages of "


def statistics_of(where: str, drawn: Drawn) -> Callable[[], WordStatistics]:
    """What counts the words; empty is the data set's passages for lab, English for the others.

    Raises:
        InvalidRequest: the data set brings no passages, or there is no such file.
    """
    where = where or (OWN if drawn.kind is LAB else ENGLISH)
    if where == ENGLISH:
        return english_frequencies
    if where == OWN:
        return _own(drawn.origin)
    file = Path(where)
    if not file.is_file():
        told = f"must be {ENGLISH}, {OWN} or a file of passages, and there is no file {where}"
        raise InvalidRequest.of("--frequencies", told)
    return lambda: corpus_frequencies(CorpusFile(file, metadata=False), name=file.name)


def statistics_again(where: str, labelling: Labelling) -> WordStatistics:
    """The counts that labels were made by; of a file of passages ``where`` names it.

    Raises:
        InvalidRequest: what is counted now is not what was counted then.
    """
    then = labelling.frequencies
    if where:
        counted = corpus_frequencies(CorpusFile(Path(where), metadata=False), name=Path(where).name)
    elif then.startswith(_PASSAGES):
        counted = _own(labelling.dataset)()
    else:
        counted = english_frequencies()
    if counted.source != then:
        told = f"the labels are by the words of {then}, not of {counted.source}"
        raise InvalidRequest.of("--frequencies", told)
    return counted


def _own(origin: DatasetOrigin) -> Callable[[], WordStatistics]:
    """What counts the passages that a data set brings."""
    world = origin.seed if origin.name == LAB.name else None
    path = Path(origin.path) if origin.path else None
    passages = open_passages(origin.name, path, seed=world)
    name = origin.name if world is None else f"{origin.name}:{world}"
    return lambda: corpus_frequencies(passages, name=f"{_PASSAGES}{name}")
