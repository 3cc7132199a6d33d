"""Right requests for every call of the services, to make wrong ones of.

What they ask for is short, so that thousands of them are answered by the real engines.
"""

from collections.abc import Mapping, Sequence

from google.protobuf.message import Message

from scaar.core.queries import FORMULATIONS
from scaar.v1 import (
    evaluator_pb2,
    generator_pb2,
    orchestrator_pb2,
    policy_pb2,
    query_builder_pb2,
    records_pb2,
    retriever_pb2,
    scorer_pb2,
)

FILM = "The Haunted Fountain"
QUESTION = f"Who is the spouse of the director of the film {FILM}?"
SENTENCE = f"The director of the film {FILM} is Ada Lundqvist."
KEPT_INDEX = "kept"
"""No request of the seeds changes it."""
KEPT_PASSAGE = "film-0000"
"""A passage of that index, and of the index ``lab``."""
KEPT_EVALUATION, CANCELLED_EVALUATION = "kept", "cancelled"
"""One that has succeeded, and one that was cancelled."""
KEPT_RECORD = "kept"

_OF_SERVICES = (
    (generator_pb2, "GeneratorService"),
    (scorer_pb2, "ScorerService"),
    (query_builder_pb2, "QueryBuilderService"),
    (retriever_pb2, "RetrieverService"),
    (orchestrator_pb2, "OrchestratorService"),
    (evaluator_pb2, "EvaluatorService"),
    (records_pb2, "RecordsService"),
)
SERVICES = {
    full_name.full_name: full_name
    for module, name in _OF_SERVICES
    for full_name in (module.DESCRIPTOR.services_by_name[name],)
}
"""The services' descriptors, by full name."""


def _generator() -> Mapping[str, Sequence[Message]]:
    pb = generator_pb2
    return {
        "Generate": (
            pb.GenerateRequest(prompt=f"Question: {QUESTION}\nAnswer:", max_tokens=3),
            pb.GenerateRequest(
                prompt=f"Question: {QUESTION}\nAnswer:",
                prefix=" The director",
                max_tokens=4,
                stop=["\n", " of the"],
                top_tokens=5,
            ),
            pb.GenerateRequest(prompt="The film", prefix_token_ids=[5, 6, 7], max_tokens=2),
            pb.GenerateRequest(
                prompt="The film",
                max_tokens=2,
                temperature=0.7,
                seed=1,
                n=2,
                named_tokens=[" The"],
                hidden_layer=1,
            ),
        ),
        "Attend": (
            pb.AttendRequest(prompt=QUESTION, text=f" {SENTENCE}"),
            pb.AttendRequest(text=SENTENCE, text_token_ids=[5, 6, 7]),
        ),
        "ComputeLogprobs": (
            pb.ComputeLogprobsRequest(prompt=QUESTION, text=f" {SENTENCE}", top_tokens=2),
            pb.ComputeLogprobsRequest(text=SENTENCE, named_tokens=[" The"]),
        ),
        "ReleaseAnswer": (pb.ReleaseAnswerRequest(answer_id="one"),),
        "DescribeModel": (pb.GeneratorServiceDescribeModelRequest(),),
    }


def _scorer() -> Mapping[str, Sequence[Message]]:
    pb = scorer_pb2
    words = SENTENCE.split()
    return {
        "ScoreContributions": (
            pb.ScoreContributionsRequest(
                sentences=[pb.SentenceToScore(question=QUESTION, words=words[:4])]
            ),
            pb.ScoreContributionsRequest(
                sentences=[
                    pb.SentenceToScore(question=QUESTION, words=words[-3:]),
                    pb.SentenceToScore(question="Who?", words=["Ada."]),
                ]
            ),
        ),
        "DescribeModel": (pb.ScorerServiceDescribeModelRequest(),),
    }


def _query_builder() -> Mapping[str, Sequence[Message]]:
    pb = query_builder_pb2
    words = [
        pb.JudgedWord(
            text=word,
            start=7 * place,
            end=7 * place + len(word),
            probability=0.9 - place / 20,
            threshold=0.5,
            uncertain=place > 7,
            contribution=place / 10,
        )
        for place, word in enumerate(SENTENCE.split())
    ]
    return {
        "BuildQuery": tuple(
            pb.BuildQueryRequest(
                question=QUESTION,
                settings=pb.QuerySettings(
                    formulation=formulation,
                    include_question=place % 2 == 0,
                    alpha=50,
                    word_order=pb.WORD_ORDER_CONTRIBUTION,
                    last_n_tokens=5,
                    max_words=20,
                ),
                words=words,
                accepted=[f" {SENTENCE}", " Ada was born in Norrby."],
                recent_tokens=[" Ada", " was"],
            )
            for place, formulation in enumerate(FORMULATIONS.built_in)
        )
    }


def _retriever() -> Mapping[str, Sequence[Message]]:
    pb = retriever_pb2
    passages = [
        pb.Passage(id=f"p{number}", title=FILM, text=f"{SENTENCE} It is number {number}.")
        for number in range(3)
    ]
    fields = [pb.MetadataField(name="lang", values=["en", "de"])]
    carrying = [pb.Passage(id="c1", title=FILM, text=SENTENCE, metadata=fields)]
    expected = [pb.Filter(field="lang", values=["en"])]
    return {
        "Retrieve": (
            pb.RetrieveRequest(queries=[QUESTION, SENTENCE], top_k=3, index=KEPT_INDEX),
            pb.RetrieveRequest(queries=[FILM], top_k=100, index="a"),
            pb.RetrieveRequest(queries=[FILM], top_k=100, index="a", filters=expected),
            pb.RetrieveRequest(queries=[FILM], top_k=1, index="a", excluded_ids=["p0", "c1"]),
            pb.RetrieveRequest(
                queries=[FILM],
                top_k=1,
                index="a",
                mode=pb.SEARCH_MODE_HYBRID,
                hybrid=pb.HybridSettings(rrf_k=60, words_weight=0.5, candidates=10),
                rerank=pb.RerankSettings(depth=5),
            ),
        ),
        "GetPassage": (
            pb.GetPassageRequest(index=KEPT_INDEX, id=KEPT_PASSAGE),
            pb.GetPassageRequest(index="a", id="p0"),
        ),
        "IndexPassages": (
            pb.IndexPassagesRequest(index="a", passages=passages, mode=pb.INDEX_MODE_REPLACE),
            pb.IndexPassagesRequest(index="a", passages=passages[:2], mode=pb.INDEX_MODE_UPSERT),
            pb.IndexPassagesRequest(index="b", passages=passages[1:]),
            pb.IndexPassagesRequest(
                index="a",
                passages=carrying,
                mode=pb.INDEX_MODE_REPLACE,
                metadata_fields=["lang", "tenant"],
            ),
        ),
        "DeletePassages": (
            pb.DeletePassagesRequest(index="a", passage_ids=["p0", "nobody"]),
            pb.DeletePassagesRequest(index="b", passage_ids=["p1"]),
        ),
        "VerifyIndex": (pb.VerifyIndexRequest(index="a"),),
        "ListIndexes": (pb.ListIndexesRequest(),),
        "DescribeIndex": (
            pb.DescribeIndexRequest(index=KEPT_INDEX),
            pb.DescribeIndexRequest(index="a"),
        ),
        "DropIndex": (pb.DropIndexRequest(index="a"), pb.DropIndexRequest(index="b")),
    }


def _orchestrator() -> Mapping[str, Sequence[Message]]:
    pb, of = orchestrator_pb2, policy_pb2
    budget = pb.Budget(max_sentences=1, max_tokens=4, max_retrievals=1, timeout_s=2)
    policies = (
        of.Policy(scaar=of.ScaarPolicy(theta=0.9, theta_cap=1, alpha=50)),
        of.Policy(
            flare=of.FlarePolicy(theta=0.9),
            overrides=of.PolicyOverrides(query="question", top_k=2),
        ),
        of.Policy(single_round=of.SingleRoundPolicy()),
        of.Policy(fixed_length=of.FixedLengthPolicy(window_tokens=2)),
        of.Policy(fixed_sentence=of.FixedSentencePolicy()),
        of.Policy(ircot=of.IrcotPolicy(max_passages=4)),
        of.Policy(no_retrieval=of.NoRetrievalPolicy()),
    )
    catalog: Mapping[str, Sequence[Message]] = {
        "ListPolicies": (pb.ListPoliciesRequest(),),
        "ListIndexes": (pb.OrchestratorServiceListIndexesRequest(),),
        "Search": (
            pb.SearchRequest(query=QUESTION),
            pb.SearchRequest(query=FILM, index="lab", top_k=10, excluded_ids=["p0"]),
        ),
        "GetPassage": (
            pb.OrchestratorServiceGetPassageRequest(index="lab", id=KEPT_PASSAGE),
            pb.OrchestratorServiceGetPassageRequest(id="nobody"),
        ),
        "Describe": (pb.DescribeRequest(),),
    }
    answers: Mapping[str, Sequence[Message]] = {
        name: tuple(
            request(
                question=QUESTION,
                policy=policy,
                index="lab",
                budget=budget,
                prompt_profile="lab",
                request_id="r-1",
            )
            for policy in policies
        )
        for name, request in (
            ("Answer", pb.AnswerRequest),
            ("StreamAnswer", pb.StreamAnswerRequest),
        )
    }
    drafts = tuple(
        pb.JudgeDraftRequest(
            question=QUESTION,
            draft=SENTENCE,
            accepted=accepted,
            policy=policy,
            budget=pb.Budget(max_sentences=2, timeout_s=2),
            prompt_profile="lab",
            request_id="r-1",
        )
        for policy, accepted in ((policies[0], ""), (policies[1], "It is a film."))
    )
    return {**answers, "JudgeDraft": drafts, **catalog}


def _evaluator() -> Mapping[str, Sequence[Message]]:
    pb, of = evaluator_pb2, policy_pb2
    flare = of.Policy(flare=of.FlarePolicy())
    question = pb.EvaluationQuestion(
        id="q1",
        question=QUESTION,
        answers=["Ada Lundqvist"],
        entity=FILM,
        labels=[pb.QuestionLabel(name="kind", value="compositional")],
        supports=[FILM],
    )
    return {
        "CreateEvaluation": (
            pb.CreateEvaluationRequest(
                request_id="once",
                questions=[question],
                policies=[of.Policy(no_retrieval=of.NoRetrievalPolicy())],
                timeout_s=2,
            ),
            pb.CreateEvaluationRequest(
                dataset="lab",
                policies=[flare],
                grid=pb.EvaluationGrid(theta=[0.5, 0.9], top_k=[1]),
                limit=1,
                seed=2000,
                indexes=["lab"],
                scorers=["none"],
                skip_unserved=True,
                freedom=1.0,
            ),
            pb.CreateEvaluationRequest(
                dataset="lab",
                policies=[flare],
                limit=20,
                seed=2000,
                theta_candidates=2,
                style=0.5,
                tail_share=0.2,
            ),
        ),
        "GetEvaluation": (pb.GetEvaluationRequest(evaluation_id=KEPT_EVALUATION),),
        "ListEvaluations": (
            pb.ListEvaluationsRequest(),
            pb.ListEvaluationsRequest(
                states=[pb.EVALUATION_STATE_SUCCEEDED, pb.EVALUATION_STATE_RUNNING], page_size=1
            ),
        ),
        "ResumeEvaluation": (
            pb.ResumeEvaluationRequest(evaluation_id=KEPT_EVALUATION, retry_failed=True),
        ),
        "CancelEvaluation": (pb.CancelEvaluationRequest(evaluation_id=CANCELLED_EVALUATION),),
        "WatchEvaluation": (pb.WatchEvaluationRequest(evaluation_id=KEPT_EVALUATION),),
        "GetReport": tuple(
            pb.GetReportRequest(evaluation_id=KEPT_EVALUATION, format=report_format)
            for report_format in pb.ReportFormat.values()
            if report_format
        ),
        "ListPredictions": (
            pb.ListPredictionsRequest(evaluation_id=KEPT_EVALUATION),
            pb.ListPredictionsRequest(
                evaluation_id=KEPT_EVALUATION, setting="no_retrieval", page_size=1
            ),
        ),
    }


def _records() -> Mapping[str, Sequence[Message]]:
    pb = records_pb2
    some = pb.RecordFilter(
        tenant="default",
        policy="flare",
        since="2026-03-01T00:00:00Z",
        until="2026-04-01T00:00:00Z",
        retrieved=True,
        verdict=pb.VERDICT_WRONG,
        text="film",
    )
    return {
        "GetRecord": (pb.GetRecordRequest(id=KEPT_RECORD),),
        "ListRecords": (
            pb.ListRecordsRequest(page_size=1),
            pb.ListRecordsRequest(filter=some, page_size=10),
        ),
        # No request of the seeds deletes the record that is kept.
        "DeleteRecords": (
            pb.DeleteRecordsRequest(ids=["none"]),
            pb.DeleteRecordsRequest(filter=pb.RecordFilter(request_id="none", tenant="none")),
        ),
        "ExplainRecord": (
            pb.ExplainRecordRequest(id=KEPT_RECORD),
            pb.ExplainRecordRequest(
                id=KEPT_RECORD, overrides=policy_pb2.PolicyOverrides(theta=0.9, trigger="msp")
            ),
            pb.ExplainRecordRequest(id=KEPT_RECORD, policy="perplexity"),
        ),
        "SummarizeRecords": (
            pb.SummarizeRecordsRequest(),
            pb.SummarizeRecordsRequest(filter=some, period_s=3600),
        ),
        "SubmitFeedback": (
            pb.SubmitFeedbackRequest(id=KEPT_RECORD, verdict=pb.VERDICT_WRONG, comment="No."),
        ),
    }


SEEDS: Mapping[str, Mapping[str, Sequence[Message]]] = {
    "scaar.v1.GeneratorService": _generator(),
    "scaar.v1.ScorerService": _scorer(),
    "scaar.v1.QueryBuilderService": _query_builder(),
    "scaar.v1.RetrieverService": _retriever(),
    "scaar.v1.OrchestratorService": _orchestrator(),
    "scaar.v1.EvaluatorService": _evaluator(),
    "scaar.v1.RecordsService": _records(),
}
"""Right requests by service and call; the first of a call is answered with OK at any time."""
