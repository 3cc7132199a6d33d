import numpy as np

from scaar.evaluator.statistics.regression import fit_logistic


def test_the_regression_is_at_the_bottom_of_its_loss() -> None:
    chance = np.random.default_rng(0)
    features = chance.normal(size=(200, 3)) * (1.0, 5.0, 0.1) + (0.0, 3.0, 1.0)
    truths = (chance.random(200) < 0.3).astype(float)
    bias, weights = fit_logistic(features, truths, penalty=2.0).unscaled()
    spread = features.std(axis=0)

    def loss(bias: float, weights: np.ndarray) -> float:
        score = bias + features @ weights
        likely = np.logaddexp(0, score) - truths * score
        return float(likely.sum() + 0.5 * 2.0 * np.square(weights * spread).sum())

    found = np.array(weights)
    for at in range(3):
        for step in (1e-3, -1e-3):
            moved = found.copy()
            moved[at] += step / spread[at]
            assert loss(bias, moved) > loss(bias, found)
    assert min(loss(bias + 1e-3, found), loss(bias - 1e-3, found)) > loss(bias, found)


def test_a_feature_that_is_always_the_same_weighs_nothing() -> None:
    features = np.array([[1.0, 2.0, 0.1], [1.0, 3.0, 0.1], [1.0, 2.5, 0.1], [1.0, 9.0, 0.1]])
    bias, weights = fit_logistic(features, np.array([1.0, 0.0, 1.0, 0.0])).unscaled()
    assert weights[0] == weights[2] == 0.0
    assert np.isfinite([bias, *weights]).all()
