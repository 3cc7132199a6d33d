"""The questions nearest to a question, by a random sentence encoder."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from scaar.core.errors import InvalidRequest
from scaar.encoders.nearest_questions import open_nearest_questions, question_vectors
from scaar.encoders.sentence_encoder import SentenceEncoder

QUESTIONS = ["Who made the film?", "Where was Ann born?", "Who is the spouse of Bob?", "Who?"]


@pytest.fixture(scope="module")
def opened(sentence_encoder_folder):
    return SentenceEncoder.open(sentence_encoder_folder, threads=1)


def test_the_nearest_questions_are_those_of_the_largest_cosines(opened, sentence_encoder_folder):
    rows = 3 * opened.encode(QUESTIONS)
    search = open_nearest_questions(question_vectors(opened, rows), sentence_encoder_folder)
    for at, question in enumerate(QUESTIONS):
        found = asyncio.run(search.nearest(question, 3))
        lengths = np.linalg.norm(rows, axis=1)
        cosines = rows @ rows[at] / lengths / lengths[at]
        assert found == np.argsort(-cosines)[:3].tolist()
        assert found[0] == at


def test_vectors_of_another_encoder_are_refused(opened, sentence_encoder_folder):
    vectors = question_vectors(opened, opened.encode(QUESTIONS))
    with pytest.raises(InvalidRequest, match="must have the encoder of the gate's file, random"):
        open_nearest_questions(replace(vectors, encoder_revision="r0"), sentence_encoder_folder)
