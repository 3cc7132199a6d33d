import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.studies.tuning.folds import FOLDS, fold_of, tuned_questions


def origin(seed: int) -> DatasetOrigin:
    return DatasetOrigin("lab", "", seed, 60, "c")


def sample(*, tail: bool) -> list[Question]:
    labels = (("popularity", "tail" if tail else "head"),)
    return [
        Question(f"q{at}", "Who?", ("X",), f"film-{at // 2}", labels=labels) for at in range(60)
    ]


def test_the_questions_about_an_entity_are_in_one_fold_in_every_sample() -> None:
    both = [(origin(seed), sample(tail=False)) for seed in (11, 12)]
    found = tuned_questions(both)
    folds: dict[str, set[int]] = {}
    for each in found:
        folds.setdefault(each.question.entity, set()).add(each.fold)
    assert all(len(each) == 1 for each in folds.values())
    assert {each.fold for each in found} == set(range(FOLDS))
    assert len({each.key for each in found}) == 120


def test_a_film_of_the_tail_is_another_one_in_another_world() -> None:
    found = tuned_questions([(origin(seed), sample(tail=True)) for seed in (11, 12)])
    assert {each.entity for each in found} == {
        f"{world}/film-{at}" for world in (11, 12) for at in range(30)
    }
    assert all(each.fold == fold_of(each.entity) for each in found)


def test_the_fold_of_an_entity_does_not_depend_on_the_other_questions() -> None:
    whole = {each.key: each.fold for each in tuned_questions([(origin(1), sample(tail=False))])}
    part = tuned_questions([(origin(1), sample(tail=False)[:30])])
    assert all(whole[each.key] == each.fold for each in part)


def test_too_few_entities_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="dataset: has questions about 2 entities, too few"):
        tuned_questions([(origin(1), sample(tail=False)[:4])])
