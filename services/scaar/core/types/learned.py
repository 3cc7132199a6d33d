"""The fitted parameters of the trigger ``learned``."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LearnedTrigger:
    """A logistic model over the signals of a drafted sentence.

    The tuples have one value for each signal. ``label`` is what the model predicts, such as
    ``wrong``. ``digest`` identifies the parameters.

    With ``harm_coefficients`` and ``harm_intercept``, a second model over the same signals predicts
    the opposite of the label, and the trigger compares the difference of the two probabilities.
    """

    signal_names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    label: str
    harm_coefficients: tuple[float, ...] | None = None
    harm_intercept: float | None = None
    digest: str = ""
