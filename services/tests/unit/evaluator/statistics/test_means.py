import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scaar.evaluator.statistics.estimate import estimate
from scaar.evaluator.statistics.means import means_of, resampled_means, split_table

from ..simulated import SETTINGS, draw_questions, draw_scores, table_by_hand, table_of

QUESTIONS = draw_questions(80)
TABLE = table_of(QUESTIONS, SETTINGS, tuple(draw_scores(QUESTIONS, SETTINGS)))


def test_the_means_are_those_of_every_question() -> None:
    table = table_by_hand("aab", [1.0, 0.0, 0.5], [0.0, 0.0, 1.0])
    assert means_of(table).of("f1").tolist() == [[0.5, 1 / 3]]


def test_the_first_sample_is_the_questions_themselves() -> None:
    drawn = resampled_means(TABLE, seed=1, resamples=3)
    assert np.array_equal(drawn.values[:1], means_of(TABLE).values)
    assert len(drawn.values) == 4


def test_a_draw_is_of_whole_entities_and_counts_their_questions() -> None:
    # Of a (1, 0) and b (0.5) with replacement: aa 0.5, ab and ba 0.5, bb 0.5; only a's and b's
    # own values could tell questions apart, and in the second row they do: 0, 1/3, 1.
    table = table_by_hand("aab", [1.0, 0.0, 0.5], [0.0, 0.0, 1.0])
    drawn = resampled_means(table, seed=1, resamples=400).of("f1")[1:]
    assert set(drawn[:, 0].tolist()) == {0.5}
    assert set(drawn[:, 1].tolist()) == {0.0, 1 / 3, 1.0}
    shares = [float((drawn[:, 1] == value).mean()) for value in (0.0, 1 / 3, 1.0)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.08)


def test_the_same_seed_gives_the_same_samples_and_another_seed_others() -> None:
    first, again, other = (
        resampled_means(TABLE, seed=seed, resamples=50).values for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_negative_seeds_and_other_streams_draw_others() -> None:
    drawn = [
        resampled_means(TABLE, seed=seed, stream=stream, resamples=50).values
        for seed, stream in ((3, 0), (-3, 0), (3, 1))
    ]
    assert not np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


@given(st.permutations(range(80)))
def test_the_order_of_the_questions_changes_nothing(order: list[int]) -> None:
    mixed = tuple(QUESTIONS[at] for at in order)
    table = table_of(mixed, SETTINGS[:2], tuple(draw_scores(mixed, SETTINGS[:2])))
    same = table_of(QUESTIONS, SETTINGS[:2], tuple(draw_scores(QUESTIONS, SETTINGS[:2])))
    drawn, expected = (resampled_means(each, seed=5, resamples=20) for each in (table, same))
    assert np.array_equal(drawn.values, expected.values)


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 1)), min_size=1, max_size=40),
    st.floats(-2, 2),
)
def test_a_constant_added_to_every_score_shifts_every_draw(
    drawn: list[tuple[str, float]], constant: float
) -> None:
    entities, scores = [entity for entity, _ in drawn], [score for _, score in drawn]
    table = table_by_hand(entities, scores, [score + constant for score in scores])
    means = resampled_means(table, seed=2, resamples=30).of("f1")
    assert means[:, 1] == pytest.approx(means[:, 0] + constant)


def test_samples_in_batches_are_those_of_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = resampled_means(TABLE, seed=3, resamples=64).values
    monkeypatch.setattr("scaar.evaluator.statistics.means._BATCH_SIZE", len(TABLE.clusters) * 7)
    in_parts = resampled_means(TABLE, seed=3, resamples=64).values
    assert in_parts == pytest.approx(at_once)


def test_with_an_entity_a_question_the_interval_is_scipys() -> None:
    scores = np.random.default_rng(8).beta(2, 1, size=300)
    table = table_by_hand([f"e{n:03d}" for n in range(300)], scores.tolist())
    ours = estimate(resampled_means(table, seed=1, resamples=20_000).of("f1")[:, 0])
    theirs = stats.bootstrap(
        (scores,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.002)


@pytest.mark.slow
def test_the_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    # 300 sets of 120 entities with 1 to 4 questions that share an entity's level; the true mean
    # is 0.5. Of 300 intervals of 95% at least 277 cover it with probability 0.99 were it exact;
    # the percentile interval of 120 entities is a little short, so 0.92 is asked for. Intervals
    # that take every question for an observation of its own cover it far less often.
    chance = np.random.default_rng(11)
    covered, covered_by_question = 0, 0
    for _ in range(300):
        sizes = chance.integers(1, 5, size=120)
        levels = np.repeat(chance.random(120), sizes)
        scores = (chance.random(sizes.sum()) < levels) * 0.2 + levels * 0.8
        entities = np.repeat([f"e{n:03d}" for n in range(120)], sizes).tolist()
        by_question = [f"q{n:04d}" for n in range(len(entities))]
        for clusters in (entities, by_question):
            table = table_by_hand(clusters, scores.tolist())
            found = estimate(resampled_means(table, seed=0, resamples=400).of("f1")[:, 0])
            assert found.low is not None
            assert found.high is not None
            inside = found.low <= 0.5 <= found.high
            if clusters is entities:
                covered += inside
            else:
                covered_by_question += inside
    assert covered >= 276
    assert covered_by_question < 265


def test_splits_are_resampled_independently() -> None:
    tested = {question.id for question in QUESTIONS if question.entity < "film 5"}
    splits = split_table(TABLE, tested=tested)
    assert splits.apart
    assert {each.id for each in splits.test.questions} == tested
    drawn = splits.means(seed=1, resamples=40)
    both = (drawn.development.of("f1")[:, 0], drawn.test.of("f1")[:, 0])
    assert abs(float(np.corrcoef(*both)[0, 1])) < 0.5


def test_with_an_empty_split_both_are_the_whole_table() -> None:
    for tested in (set(), {question.id for question in QUESTIONS}):
        splits = split_table(TABLE, tested=tested)
        assert not splits.apart
        assert splits.development is splits.test is TABLE
        drawn = splits.means(seed=1, resamples=5)
        assert drawn.development is drawn.test


def test_a_single_question_is_drawn_every_time() -> None:
    table = table_by_hand("a", [0.25])
    assert set(resampled_means(table, seed=0, resamples=10).of("f1").ravel().tolist()) == {0.25}
