"""Passages of one fact each, their queries, and the training pairs of the reranker."""

from random import Random

from scaar.lab.fact_passages import draw_fact_queries, fact_passages_of
from scaar.lab.training.relevance_pairs import MAX_FACTS, draw_relevance_pair
from scaar.lab.world import build_world

WORLD = build_world(4100, tail_films=60)


def test_every_fact_of_a_world_has_a_passage_of_its_own() -> None:
    passages = list(fact_passages_of(WORLD))
    facts = [fact for film in WORLD.films for subject in film.subjects() for fact in subject.facts]
    assert [each.title for each in passages] == [fact.subject for fact in facts]
    assert all(fact.value in each.text for each, fact in zip(passages, facts, strict=True))
    assert len({each.id for each in passages}) == len(passages)
    assert list(fact_passages_of(WORLD)) == passages


def test_questions_need_the_facts_that_they_name_and_drafts_have_a_wrong_value() -> None:
    passages = {each.id: each for each in fact_passages_of(WORLD)}
    questions, drafts = draw_fact_queries(WORLD, count=40)
    assert len(questions) == len(drafts) == 40
    for question in questions:
        assert question.relevant
        assert all(passages[each].title in question.text for each in question.relevant)
    for draft in drafts:
        (right,) = draft.relevant
        assert passages[right].title in draft.text
        assert passages[right].text != draft.text
    assert draw_fact_queries(WORLD, count=40) == (questions, drafts)


def test_a_relevant_passage_is_about_a_subject_that_the_query_names() -> None:
    random = Random(1)
    pairs = [draw_relevance_pair(random) for _ in range(600)]
    relevant = [each for each in pairs if each.similarity > 0.5]
    assert 0.3 < len(relevant) / len(pairs) < 0.5
    for each in relevant:
        # A title has three words, and a person's name two.
        words = each.altered.split()
        assert any(" ".join(words[:count]) in each.text for count in (2, 3))
    assert max(each.altered.count(".") for each in pairs) <= MAX_FACTS
    assert draw_relevance_pair(Random(2)) == draw_relevance_pair(Random(2))
