"""Windows of words for a model that reads few of them."""

from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.windows import Window, windows_of


def test_words_that_fit_are_one_window() -> None:
    assert windows_of(7, lambda start, stop: True) == (Window(0, 7, 0, 7),)


def test_a_part_is_read_with_half_as_many_words_on_both_sides() -> None:
    assert windows_of(8, lambda start, stop: stop - start <= 6) == (
        Window(0, 6, 0, 4),
        Window(2, 8, 4, 8),
    )


def test_only_the_parts_around_long_words_are_small() -> None:
    lengths = [1, 1, 1, 1, 1, 1, 1, 9]
    windows = windows_of(8, lambda start, stop: sum(lengths[start:stop]) <= 10)
    assert windows == (
        Window(0, 6, 0, 4),
        Window(3, 7, 4, 6),
        Window(6, 7, 6, 7),
        Window(7, 8, 7, 8),
    )


def test_a_word_that_does_not_fit_alone_leaves_no_windows() -> None:
    assert windows_of(5, lambda start, stop: not start <= 3 < stop) is None


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.integers(9, 40))
def test_every_word_is_the_own_word_of_one_window_that_fits(lengths: list[int], most: int) -> None:
    windows = windows_of(len(lengths), lambda start, stop: sum(lengths[start:stop]) <= most)
    assert windows is not None
    assert [at for each in windows for at in range(each.first, each.last)] == list(
        range(len(lengths))
    )
    for each in windows:
        assert each.start <= each.first < each.last <= each.stop
        assert sum(lengths[each.start : each.stop]) <= most
