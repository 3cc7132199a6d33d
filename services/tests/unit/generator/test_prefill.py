"""Prefill by itself, over a decoder whose keys are the tokens that it read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.generator.engines.decoding import prefill
from scaar.generator.engines.decoding.onnx_decoder import Cache
from scaar.generator.engines.decoding.prefill import Prefill
from scaar.generator.engines.decoding.prefix_store import PrefixStore

TEXTS = st.lists(st.integers(0, 2), min_size=1, max_size=20)
CHUNK = 4


class EchoDecoder:
    """Its logits are all that it has read; ``runs`` says how many tokens each run was given."""

    def __init__(self):
        self.runs = []

    def begin(self):
        return Cache(0, {"key": np.zeros((1, 1, 0, 1), np.float32)})

    def step(self, ids, cache):
        self.runs.append(len(ids))
        new = np.array(ids, np.float32).reshape(1, 1, -1, 1)
        keys = np.concatenate([cache.tensors["key"], new], axis=2)
        return keys.ravel(), Cache(keys.shape[2], {"key": keys})


def read_whole(text):
    """All that was read when nothing is unread."""
    seen = text.run()
    while text.unread:
        seen = text.run()
    return seen.tolist()


@pytest.fixture(autouse=True, scope="module")
def _small_chunks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefill, "CHUNK_TOKENS", CHUNK)
        yield


@given(before=st.lists(TEXTS, max_size=4), ids=TEXTS, written=TEXTS)
def test_a_text_is_read_in_order_whatever_was_read_before(before, ids, written):
    store, decoder = PrefixStore(10_000), EchoDecoder()
    for other in before:
        text = Prefill(decoder, store, other)
        read_whole(text)
        text.store()
    text = Prefill(decoder, store, ids)
    assert read_whole(text) == ids
    for count, token in enumerate(written, 1):
        text.append(token)
        assert text.unread == 1
        assert read_whole(text) == [*ids, *written[:count]]


@given(ids=TEXTS, written=TEXTS)
def test_a_run_has_at_least_two_tokens_and_at_most_a_chunk(ids, written):
    decoder = EchoDecoder()
    text = Prefill(decoder, PrefixStore(10_000), ids)
    read_whole(text)
    for token in written:
        text.append(token)
        read_whole(text)
    first, *rest = decoder.runs
    assert first == min(len(ids), CHUNK)
    assert all(2 <= tokens <= CHUNK for tokens in rest)


def test_a_text_that_was_read_to_its_end_is_read_from_the_last_two_tokens():
    store, decoder = PrefixStore(10_000), EchoDecoder()
    for _ in range(2):
        text = Prefill(decoder, store, [1, 2, 3, 4])
        read_whole(text)
        text.store()
    assert decoder.runs == [4, 2]
    assert store.reused_tokens == 2


def test_nothing_is_stored_before_anything_was_read():
    store = PrefixStore(10_000)
    Prefill(EchoDecoder(), store, [1, 2, 3]).store()
    assert store.size_bytes == 0
