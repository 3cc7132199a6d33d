"""What is different between the evaluation that a folder holds and the one that is asked for."""

from collections.abc import Collection, Iterator
from itertools import islice

from scaar.evaluator.results import Evaluation
from scaar.evaluator.store.record_json import RecordJson

_EVALUATION = RecordJson(Evaluation)
_MOST_TOLD = 5
_NO_DIFFERENCE = ("created", "dataset.path")
"""What may be another: the questions of a file that was moved are the same."""


def differences(there: Evaluation, asked: Evaluation) -> list[str]:
    """The first of them, as people say it; none where the one goes on with the other."""
    labels, wanted = ([each.label for each in one.settings] for one in (there, asked))
    if labels != wanted:
        gone = [f"setting {label} is only there" for label in labels if label not in wanted]
        new = [f"setting {label} is not there" for label in wanted if label not in labels]
        return (gone + new)[:_MOST_TOLD] or ["its settings are in another order"]
    return changed(_EVALUATION.plain(there), _EVALUATION.plain(asked), but=_NO_DIFFERENCE)


def changed(there: object, asked: object, *, but: Collection[str]) -> list[str]:
    """The first values that are not the same in two records as JSON; ``but`` may be another."""
    before, now = (dict(_flat("", one)) for one in (there, asked))
    names = [name for name in {**before, **now} if name not in but]
    told = (
        f"{name} is {before.get(name)!r} there and {now.get(name)!r} now"
        for name in names
        if before.get(name) != now.get(name)
    )
    return list(islice(told, _MOST_TOLD))


def _flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Every value that holds no others, by its dotted name."""
    if isinstance(value, dict):
        for key, held in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), held)
    elif isinstance(value, list):
        for position, held in enumerate(value):
            yield from _flat(f"{name}[{position}]", held)
    else:
        yield name, value
