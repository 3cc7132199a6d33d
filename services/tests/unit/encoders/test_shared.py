"""Encoders that several parts of a process use."""

import gc
import weakref
from pathlib import Path

from scaar.encoders.shared import open_shared_encoder


def test_an_encoder_is_opened_once_for_as_long_as_it_is_used(sentence_encoder_folder: Path) -> None:
    encoder = open_shared_encoder(sentence_encoder_folder, threads=1)
    same = sentence_encoder_folder / ".." / sentence_encoder_folder.name
    assert open_shared_encoder(same, threads=1) is encoder
    assert open_shared_encoder(sentence_encoder_folder, threads=2) is not encoder
    reference = weakref.ref(encoder)
    del encoder
    gc.collect()
    assert reference() is None
