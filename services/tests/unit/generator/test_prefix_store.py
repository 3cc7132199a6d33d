"""The store of caches by itself: what it finds, what it holds, and for how long."""

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scaar.generator.engines.decoding.onnx_decoder import Cache
from scaar.generator.engines.decoding.prefix_store import PrefixStore

TOKEN_BYTES = 2 * 4
"""A key and a value, one number each."""

texts = st.lists(st.integers(0, 2), max_size=12)
"""Few different tokens, so that many texts begin alike."""


def cache_of(ids):
    """A cache whose keys and values are the tokens themselves."""
    numbers = np.array(ids, np.float32).reshape(1, 1, len(ids), 1)
    return Cache(len(ids), {"key": numbers, "value": -numbers})


def held(cache):
    """The tokens of a cache that was made by cache_of."""
    assert cache is not None
    keys, values = cache.tensors["key"][0, 0, :, 0], cache.tensors["value"][0, 0, :, 0]
    assert len(keys) == cache.length
    assert (keys == -values).all()
    return [int(key) for key in keys]


def shared(one, other):
    """How many tokens two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def put(store, ids):
    store.put(ids, cache_of(ids))


def test_the_longest_beginning_that_was_read_is_found():
    store = PrefixStore(1_000)
    put(store, [1, 2, 3, 4])
    put(store, [1, 2, 5])
    assert held(store.find([1, 2, 3, 9, 9])) == [1, 2, 3]
    assert held(store.find([1, 2, 5, 6])) == [1, 2, 5]
    assert held(store.find([1])) == [1]
    assert store.find([2, 1]) is None
    assert store.find([]) is None
    assert store.reused_tokens == 3 + 3 + 1


def test_a_text_covers_its_prefixes():
    store = PrefixStore(1_000)
    put(store, [1, 2])
    put(store, [1, 2, 3])
    put(store, [1])
    assert store.size_bytes == 3 * TOKEN_BYTES
    assert held(store.find([1, 2, 3])) == [1, 2, 3]


def test_the_least_recently_used_entry_is_evicted_first():
    store = PrefixStore(4 * TOKEN_BYTES)
    put(store, [1, 1])
    put(store, [2, 2])
    assert store.find([1, 1]) is not None
    put(store, [3, 3])
    assert store.find([2, 2]) is None
    assert store.find([1, 1]) is not None
    assert store.find([3, 3]) is not None


def test_storing_an_entry_again_counts_as_use():
    store = PrefixStore(4 * TOKEN_BYTES)
    put(store, [1, 1])
    put(store, [2, 2])
    put(store, [1, 1])
    put(store, [3, 3])
    assert store.find([2]) is None
    assert store.find([1]) is not None


def test_an_entry_larger_than_the_store_is_not_stored_and_evicts_nothing():
    store = PrefixStore(3 * TOKEN_BYTES)
    put(store, [1, 2])
    put(store, [1, 2, 3, 4])
    assert held(store.find([1, 2, 3, 4])) == [1, 2]


def test_a_store_of_nothing_holds_nothing():
    store = PrefixStore(0)
    put(store, [1])
    put(store, [])
    assert store.find([1]) is None
    assert store.size_bytes == store.reused_tokens == 0


@given(limit=st.integers(0, 20), steps=st.lists(st.tuples(st.booleans(), texts), max_size=40))
def test_the_bound_holds_and_what_is_found_was_read(limit, steps):
    store, kept = PrefixStore(limit * TOKEN_BYTES), []
    for keep, ids in steps:
        if keep:
            put(store, ids)
            kept.append(ids)
        elif found := store.find(ids):
            assert held(found) == ids[: found.length]
            assert 0 < found.length <= max(shared(ids, each) for each in kept)
        entries = store._snapshot().values()
        assert store.size_bytes == sum(TOKEN_BYTES * cache.length for cache in entries)
        assert store.size_bytes <= limit * TOKEN_BYTES


@given(kept=st.lists(texts, max_size=20), expected=texts)
def test_without_a_bound_the_longest_shared_beginning_is_always_found(kept, expected):
    store = PrefixStore(1_000_000)
    for ids in kept:
        put(store, ids)
    longest = max((shared(expected, ids) for ids in kept), default=0)
    found = store.find(expected)
    assert (found.length if found else 0) == longest


def test_a_truncated_cache_shares_no_memory():
    whole = cache_of(range(100))
    cut = whole.cut(3)
    assert held(cut) == [0, 1, 2]
    assert cut.size_bytes == 3 * TOKEN_BYTES
    assert not any(np.shares_memory(cut.tensors[name], whole.tensors[name]) for name in cut.tensors)
    assert whole.cut(100) is whole


def test_threads_share_a_store_without_mixing_their_texts():
    store = PrefixStore(60 * TOKEN_BYTES)
    wrong = []

    def work(number):
        for length in range(1, 200):
            ids = [number] * (length % 20 + 1)
            put(store, ids)
            found = store.find(ids)
            if found and held(found) != ids[: found.length]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    entries = store._snapshot().values()
    assert store.size_bytes == sum(entry.size_bytes for entry in entries) <= 60 * TOKEN_BYTES
