"""Every part scales separately, by metrics of its load."""

from promql_parser import parse

from .rendering import Object, Rendered
from .scenarios import SCENARIOS


def scaled(name: str, part: str) -> Object:
    return SCENARIOS[name].rendered().one("ScaledObject", part)["spec"]


def query_of(name: str, part: str) -> tuple[str, str, str]:
    """Return query, threshold and metric type of a part's only trigger."""
    (trigger,) = scaled(name, part)["triggers"]
    assert trigger["type"] == "prometheus"
    assert trigger["metadata"]["serverAddress"] == "http://prometheus:9090"
    query = trigger["metadata"]["query"]
    parse(query)
    return query, trigger["metadata"]["threshold"], trigger["metricType"]


def test_an_autoscaled_part_has_no_replicas_field(release: Rendered) -> None:
    by = {
        each["spec"]["scaleTargetRef"]["name"]
        for each in release.of("HorizontalPodAutoscaler") + release.of("ScaledObject")
    }
    for each in release.of("Deployment"):
        assert ("replicas" in each["spec"]) == (each["metadata"]["name"] not in by)
    assert by <= {each["metadata"]["name"] for each in release.of("Deployment")}


def test_kubernetes_scales_by_cpu_or_by_metrics_that_are_given() -> None:
    release = SCENARIOS["scaled by Kubernetes"].rendered()
    spec = release.one("HorizontalPodAutoscaler", "scorer")["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 3)
    target = {"type": "Utilization", "averageUtilization": 70}
    assert spec["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    of_tgi = release.one("HorizontalPodAutoscaler", "tgi")["spec"]
    assert of_tgi["metrics"][0]["type"] == "Pods"
    assert of_tgi["behavior"] == {"scaleDown": {"stabilizationWindowSeconds": 600}}


def test_tgi_scales_by_queue_and_batch() -> None:
    of = 'namespace="questions",service="films-scaar-tgi"'
    assert query_of("scaled by KEDA", "tgi") == (
        f"sum(tgi_queue_size{{{of}}}) + sum(tgi_batch_current_size{{{of}}})",
        "16",
        "AverageValue",
    )
    advanced = scaled("scaled by KEDA", "tgi")["advanced"]["horizontalPodAutoscalerConfig"]
    assert advanced == {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}}}


def test_vllm_scales_by_requests_that_wait_and_run() -> None:
    of = 'namespace="questions",service="films-scaar-vllm"'
    query, _, held = query_of("vLLM by KEDA, workers of RabbitMQ", "vllm")
    assert (
        query == f"sum(vllm:num_requests_waiting{{{of}}}) + sum(vllm:num_requests_running{{{of}}})"
    )
    assert held == "AverageValue"


def test_triton_scales_by_the_ratio_of_queue_and_computing() -> None:
    query, threshold, held = query_of("scaled by KEDA", "triton")
    queue, compute = query.split(" / ")
    assert "nv_inference_queue_duration_us" in queue
    assert "nv_inference_compute_infer_duration_us" in compute
    # A ratio is not shared out among replicas.
    assert (threshold, held) == ("1", "Value")


def test_services_scale_by_calls_in_progress() -> None:
    query, threshold, held = query_of("scaled by KEDA", "query-builder")
    assert query == (
        'sum(scaar_rpc_in_progress{namespace="questions",service="scaar.v1.QueryBuilderService"})'
    )
    assert (threshold, held) == ("32", "AverageValue")


def test_workers_scale_by_waiting_and_unacknowledged_tasks_in_redis() -> None:
    release = SCENARIOS["scaled by KEDA"].rendered()
    spec = release.one("ScaledObject", "worker")["spec"]
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (0, 4)
    waiting, unacknowledged = spec["triggers"]
    assert waiting["metadata"]["listName"] == "scaar.evaluations"
    assert unacknowledged["metadata"]["listName"] == "unacked"
    assert spec["advanced"]["scalingModifiers"] == {
        "formula": f"{waiting['name']} + {unacknowledged['name']}",
        "target": "2",
        "metricType": "AverageValue",
    }
    authentication = release.one("TriggerAuthentication", "worker")
    assert waiting["authenticationRef"]["name"] == authentication["metadata"]["name"]
    read = {each["parameter"]: each["name"] for each in authentication["spec"]["secretTargetRef"]}
    assert read == {"address": "evaluations-queue", "password": "evaluations-queue"}


def test_workers_scale_by_the_length_of_rabbitmqs_queue_by_http() -> None:
    (trigger,) = scaled("vLLM by KEDA, workers of RabbitMQ", "worker")["triggers"]
    assert trigger["metadata"] == {
        "protocol": "http",
        "mode": "QueueLength",
        "queueName": "films",
        "value": "2",
    }


def test_custom_triggers_replace_the_defaults() -> None:
    spec = scaled("triggers of one's own", "orchestrator")
    (trigger,) = spec["triggers"]
    assert trigger["type"] == "cron"
    # These metrics exist without pods.
    assert spec["minReplicaCount"] == 0
