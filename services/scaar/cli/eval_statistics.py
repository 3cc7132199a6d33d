"""Where ``scaar eval longtail`` counts how often words are met."""

from collections.abc import Callable
from pathlib import Path

from scaar.cli.eval_dataset import Drawn
from scaar.core.errors import InvalidRequest
from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluator.datasets.corpora import open_passages
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.longtail.frequencies import ENGLISH, corpus_frequencies, english_frequencies
from scaar.retriever.corpus import CorpusFile

OWN = "dataset"
"""The passages that the data set brings."""


def statistics_of(where: str, drawn: Drawn) -> Callable[[], WordStatistics]:
    """What counts the words; empty is the data set's passages for lab, English for the others.

    Raises:
        InvalidRequest: the data set brings no passages, or there is no such file.
    """
    where = where or (OWN if drawn.kind is LAB else ENGLISH)
    if where == ENGLISH:
        return english_frequencies
    if where == OWN:
        origin = drawn.origin
        path = Path(origin.path) if origin.path else None
        passages = open_passages(origin.name, path, seed=drawn.lab_world)
        name = f"{origin.name}:{drawn.lab_world}" if drawn.kind is LAB else origin.name
        return lambda: corpus_frequencies(passages, name=f"the passages of {name}")
    file = Path(where)
    if not file.is_file():
        told = f"must be {ENGLISH}, {OWN} or a file of passages, and there is no file {where}"
        raise InvalidRequest.of("--frequencies", told)
    return lambda: corpus_frequencies(CorpusFile(file, metadata=False), name=file.name)
