"""Trains the lab's models from nothing: ``python -m scaar.lab.training [MODEL ...]``."""

import sys

from scaar.lab.training.runs import TRAININGS, train_all


def main(names: list[str]) -> None:
    """Trains the models named, or all."""
    if not set(names) <= set(TRAININGS):
        sys.exit(f"unknown model; known: {', '.join(TRAININGS)}")
    train_all(names or TRAININGS)


if __name__ == "__main__":
    main(sys.argv[1:])
