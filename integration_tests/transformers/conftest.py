"""The lab's models as they ship, opened by transformers on one side and by scaar on the other."""

import os

import pytest
import torch

from scaar.encoders.cross_encoder import open_cross_encoder
from scaar.generator.engines.decoding.language_model import open_language_model
from scaar.lab.models import LAB_CROSS_ENCODER, LAB_LM, model_folder

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """The models are small: threads would cost more than they give."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def language_model():
    return open_language_model(model_folder(LAB_LM), threads=1)


@pytest.fixture(scope="session")
def cross_encoder():
    return open_cross_encoder(model_folder(LAB_CROSS_ENCODER), threads=1)
