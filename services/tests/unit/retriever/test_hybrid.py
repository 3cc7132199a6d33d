"""Reciprocal rank fusion of two rankings."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from scaar.core.types import HybridSettings
from scaar.retriever.hybrid import depth_of, fuse

Rankings = st.lists(st.text("abcdef", min_size=1, max_size=1), unique=True, max_size=6)
Settings = st.builds(
    HybridSettings,
    rrf_k=st.integers(1, 100),
    words_weight=st.floats(0.001, 1000),
    vectors_weight=st.floats(0.001, 1000),
)


def ranked(ids: list[str]) -> list[tuple[str, float]]:
    return [(each, 1.0 / place) for place, each in enumerate(ids, 1)]


@given(Rankings, Rankings, Settings, st.integers(1, 7))
def test_passages_are_ordered_by_the_exact_sum_and_then_by_id(
    words: list[str], vectors: list[str], settings: HybridSettings, top_k: int
) -> None:
    found = fuse(ranked(words), ranked(vectors), settings, top_k, order=lambda key: key)
    sums = {}
    for key in {*words, *vectors}:
        sums[key] = Fraction(0)
        for ids, weight in (
            (words, settings.words_weight),
            (vectors, settings.vectors_weight),
        ):
            if key in ids:
                sums[key] += Fraction(weight) / (settings.rrf_k + ids.index(key) + 1)
    best = sorted(sums, key=lambda key: (-sums[key], key))[:top_k]
    assert [each.key for each in found] == best
    assert [each.score for each in found] == [float(sums[key]) for key in best]
    for each in found:
        words_part, vectors_part = each.parts.words, each.parts.vectors
        assert (words_part.rank if words_part else None) == place_in(words, each.key)
        assert (vectors_part.rank if vectors_part else None) == place_in(vectors, each.key)
        assert each.parts.fused is not None
        assert each.parts.fused.score == each.score


def place_in(ids: list[str], key: str) -> int | None:
    return ids.index(key) + 1 if key in ids else None


def test_equal_sums_of_different_terms_tie() -> None:
    # 1/3 + 1/6 = 1/2: in floating point, such sums may differ in the last digit.
    settings = HybridSettings(rrf_k=1)
    words = [("b", 9.0), ("x", 8.0), ("y", 7.0), ("z", 6.0)]
    vectors = [("a", 9.0), ("y", 8.0), ("z", 7.0), ("x", 6.0)]
    found = fuse(words, vectors, settings, 4, order=lambda key: key)
    # x: 1/3 + 1/5, y: 1/4 + 1/3, z: 1/5 + 1/4, a and b: 1/2.
    assert [each.key for each in found] == ["y", "x", "a", "b"]


def test_each_ranking_contributes_at_least_as_many_passages_as_are_returned() -> None:
    assert depth_of(HybridSettings(candidates=20), 3) == 20
    assert depth_of(HybridSettings(candidates=20), 30) == 30
