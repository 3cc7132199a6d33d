"""Precision and recall of the rule for supporting passages."""

import json

from record.documents.support import FILES, FOLDER, Counts, counted
from scaar.core.types import RetrievedPassage

PASSAGES = [
    RetrievedPassage(str(number), "", text, 1.0, number)
    for number, text in enumerate(("Parental leave is 14 weeks.", "Travel is 30 days."), 1)
]


def test_the_passages_of_rule_and_labels_are_counted() -> None:
    line = {"sentence": "Parental leave is 14 weeks.", "supporting": ["1", "2"]}
    counts = counted(line, "How long is parental leave?", PASSAGES)
    assert counts == Counts(sentences=1, both=1, rule_only=0, labels_only=1)
    counts += counted({**line, "supporting": []}, "How long is parental leave?", PASSAGES)
    assert (counts.sentences, counts.precision, counts.recall) == (2, 0.5, 0.5)


def test_every_labelled_passage_was_read() -> None:
    for name in FILES:
        for text in (FOLDER / name).read_text().splitlines():
            line = json.loads(text)
            assert set(line["supporting"]) <= set(line["passages"])
