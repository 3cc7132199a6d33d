"""Trains the lab's models from scratch: ``python -m scaar.lab.training [MODEL ...]``."""

import sys

from scaar.lab.training.runs import TRAININGS, train_all


def main(names: list[str]) -> None:
    """Train the named models, or all."""
    if not set(names) <= set(TRAININGS):
        unknown = ", ".join(sorted(set(names) - set(TRAININGS)))
        sys.exit(f"unknown model {unknown}; the models are {', '.join(TRAININGS)}")
    train_all(names or TRAININGS)


if __name__ == "__main__":
    main(sys.argv[1:])
