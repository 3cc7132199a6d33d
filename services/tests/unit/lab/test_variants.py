"""Variants of a world's passages differ from it as they say, and nowhere else."""

import pytest

from scaar.lab.passages import LabPassage, passages_of
from scaar.lab.variants import Variant, varied_passages
from scaar.lab.world import World, build_world


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(1000, tail_films=40)


def passages(world: World, variant: Variant) -> dict[str, LabPassage]:
    found = list(varied_passages(world, variant))
    by_id = {passage.id: passage for passage in found}
    assert len(by_id) == len(found)
    return by_id


def test_without_a_variant_the_passages_are_those_of_the_world(world: World) -> None:
    assert list(varied_passages(world, Variant.NONE)) == list(passages_of(world))


def test_distractors_have_similar_names_of_their_own_and_change_no_passage(world: World) -> None:
    plain = passages(world, Variant.NONE)
    varied = passages(world, Variant.DISTRACTORS)
    assert {key: varied[key] for key in plain} == plain
    added = [each for each in varied.values() if each.id not in plain]
    assert len(added) == len(plain)
    assert len({each.title for each in varied.values()}) == 2 * len(plain)
    for passage in added:
        subject = plain[passage.id.removesuffix("-distractor")].title
        shared = set(passage.title.split()) & set(subject.split())
        assert len(shared) >= len(subject.split()) - 1
        assert passage.title in passage.text


def test_no_answer_leaves_out_the_passages_of_the_tail(world: World) -> None:
    plain = passages(world, Variant.NONE)
    known = {key: each for key, each in plain.items() if int(key[-4:]) < len(world.known)}
    assert passages(world, Variant.NO_ANSWER) == known


def test_false_passages_have_the_same_names_and_no_true_value(world: World) -> None:
    plain, false = passages(world, Variant.NONE), passages(world, Variant.FALSE)
    assert {key: each.title for key, each in false.items()} == {
        key: each.title for key, each in plain.items()
    }
    film = world.tail[3]
    text = false[f"film-{len(world.known) + 3:04d}"].text
    assert film.title in text
    assert film.star not in text
    assert world.tail[4].star in text
