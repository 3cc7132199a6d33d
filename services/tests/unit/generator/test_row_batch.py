"""Rows of a batch, over tensors whose keys are the tokens that a row has read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.generator.engines.decoding.onnx_decoder import Cache
from scaar.generator.engines.decoding.row_batch import Outputs, RowBatch

PADDING = 0
TEXT = st.lists(st.integers(1, 9), min_size=1, max_size=6)


class EchoTensors:
    """A run appends the token to a row's keys; its logits are all of its keys, with the padding."""

    def unpack(self, cache):
        return (cache.tensors["key"],)

    def pack(self, length, tensors):
        return Cache(length, {"key": tensors[0].copy()})

    def zeros(self, shape, like):
        return np.full(shape, PADDING, like.dtype)

    def join(self, tensors, axis):
        return np.concatenate(tensors, axis)

    def run(self, inputs, *, attention):
        (keys,) = inputs.tensors
        rows, _, past, _ = keys.shape
        assert inputs.ids.shape == inputs.positions.shape == (rows, 1)
        assert inputs.mask.shape == (rows, past + 1)
        new = inputs.ids.astype(keys.dtype).reshape(rows, 1, 1, 1)
        after = np.concatenate([keys, new], axis=2)
        read = after[:, 0, :, 0]
        # The mask hides exactly the padding, and a position counts the tokens before.
        assert ((read != PADDING) == (inputs.mask == 1)).all()
        assert (inputs.positions[:, 0] == inputs.mask.sum(axis=1) - 1).all()
        return Outputs(read, (after,), read * 10 if attention else None)


def cache_of(ids):
    return Cache(len(ids), {"key": np.array(ids, np.float32).reshape(1, 1, -1, 1)})


def tokens_in(cache):
    return cache.tensors["key"].ravel().tolist()


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("join"), TEXT),
            st.tuples(st.just("leave"), st.sets(st.integers(0, 4))),
            st.tuples(st.just("step"), st.integers(1, 9)),
        ),
        max_size=30,
    )
)
def test_a_row_has_the_tokens_of_its_own_text_whoever_joins_and_leaves(actions):
    batch, texts, left = RowBatch(EchoTensors()), {}, {}
    for action, value in actions:
        if action == "join":
            texts[batch.join(cache_of(value))] = list(value)
        elif action == "leave":
            leaving = [row for number, row in enumerate(batch.rows) if number in value]
            batch.leave(leaving)
            left |= {row: texts.pop(row) for row in leaving}
        elif batch.rows:
            tokens = [value + number % 2 for number in range(len(batch.rows))]
            found = batch.step(tokens, attention=True)
            for row, token, (logits, paid) in zip(batch.rows, tokens, found, strict=True):
                texts[row].append(token)
                assert logits.ravel()[-len(texts[row]) :].tolist() == texts[row]
                assert paid.tolist() == [each * 10 for each in texts[row]]
        assert set(batch.rows) == texts.keys()
        for row, text in (texts | left).items():
            assert row.length == len(text)
            assert tokens_in(row.cache()) == text


def test_attention_is_computed_only_if_it_is_requested():
    batch = RowBatch(EchoTensors())
    batch.join(cache_of([1]))
    assert [paid for _, paid in batch.step([2])] == [None]


def test_a_cache_does_not_change_with_later_steps():
    batch = RowBatch(EchoTensors())
    row = batch.join(cache_of([1, 2]))
    batch.join(cache_of([3]))
    cache = row.cache()
    batch.step([4, 5])
    assert tokens_in(cache) == [1, 2]
    assert tokens_in(row.cache()) == [1, 2, 4]


def test_the_padding_of_a_long_text_is_removed_when_it_leaves():
    batch = RowBatch(EchoTensors())
    long, short = batch.join(cache_of([1] * 50)), batch.join(cache_of([2, 3]))
    batch.leave([long])
    ((logits, _),) = batch.step([4])
    assert logits.tolist() == [2, 3, 4]
    assert short.length == 3


@pytest.mark.parametrize("lengths", [(1, 1), (3, 1), (1, 3)])
def test_an_empty_batch_begins_again(lengths):
    batch = RowBatch(EchoTensors())
    first = batch.join(cache_of([1] * lengths[0]))
    batch.leave([first])
    batch.join(cache_of([2] * lengths[1]))
    ((logits, _),) = batch.step([3])
    assert logits.tolist() == [2] * lengths[1] + [3]
