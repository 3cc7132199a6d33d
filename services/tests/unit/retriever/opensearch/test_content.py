import random

from hypothesis import given
from hypothesis import strategies as st

from scaar.core.types import MetadataField, Passage
from scaar.retriever.opensearch.content import Content

texts = st.text(max_size=3)
fields = st.lists(
    st.builds(MetadataField, texts, st.lists(texts, max_size=2).map(tuple)),
    max_size=2,
    unique_by=lambda each: each.name,
).map(tuple)
passages = st.lists(st.builds(Passage, texts, texts, texts, fields), unique=True)


def content_of(given: list[Passage]) -> Content:
    content = Content()
    for passage in given:
        content.add(passage)
    return content


def version(content: Content) -> str:
    return content.version(k1=0.9, b=0.4)


@given(passages, st.randoms(use_true_random=False))
def test_the_order_of_passages_does_not_matter(found: list[Passage], chance: random.Random) -> None:
    other = chance.sample(found, len(found))
    assert version(content_of(found)) == version(content_of(other))


@given(passages, st.data())
def test_a_removed_passage_leaves_no_trace_in_the_sum(
    found: list[Passage], data: st.DataObject
) -> None:
    gone = data.draw(st.lists(st.sampled_from(found), unique=True) if found else st.just([]))
    content = content_of(found)
    # As it is kept between two changes.
    kept = Content(content.total, content.passages)
    for passage in gone:
        kept.remove(passage)
    left = content_of([each for each in found if each not in gone])
    assert (kept.total, kept.passages) == (left.total, left.passages)
    assert version(kept) == version(left)


@given(passages, passages)
def test_other_passages_make_another_version(one: list[Passage], other: list[Passage]) -> None:
    same = set(one) == set(other)
    assert (version(content_of(one)) == version(content_of(other))) is same


def test_other_declared_fields_make_another_version() -> None:
    content = content_of([Passage("a", "", "x")])
    declared: list[tuple[str, ...]] = [(), ("lang",), ("lang", "tenant")]
    assert len({content.version(k1=0.9, b=0.4, fields=each) for each in declared}) == 3


def test_other_parameters_make_another_version() -> None:
    content = content_of([Passage("a", "", "x")])
    versions = {content.version(k1=k1, b=b) for k1 in (0.9, 1.2) for b in (0.4, 0.75)}
    assert len(versions) == 4
