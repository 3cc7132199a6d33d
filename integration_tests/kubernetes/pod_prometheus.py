"""Prometheus on the test machine that scrapes the pods of a namespace."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import yaml

from ..servers.prometheus.prometheus_server import PrometheusServer, running_prometheus
from .cluster import Cluster, Object
from .pod_access import pod_access


@contextmanager
def pod_prometheus(cluster: Cluster, namespace: str, folder: Path) -> Iterator[PrometheusServer]:
    """Run a Prometheus that scrapes scaar's pods, as configured by a ServiceMonitor.

    It scrapes through the API server, and discovers pods from the tests over HTTP, since Debian's
    Prometheus has no Kubernetes discovery.
    """
    with pod_access(cluster, namespace) as to_pods:

        def targets() -> list[Object]:
            there = to_pods.api_server()
            pods = cluster.objects("pods", namespace=namespace)
            named = [(each["metadata"]["name"], port) for each in pods for port in _metrics(each)]
            return [
                {
                    "targets": [there],
                    "labels": {
                        "__metrics_path__": to_pods.path(pod, port, "/metrics"),
                        "namespace": namespace,
                        "pod": pod,
                    },
                }
                for pod, port in named
            ]

        with _discovery(targets) as url:
            discovery = {"url": url, "refresh_interval": "2s"}
            job = {"job_name": "scaar", "honor_labels": True, "http_sd_configs": [discovery]}
            config = {"global": {"scrape_interval": "2s"}, "scrape_configs": [job]}
            file = folder / "prometheus.yaml"
            file.write_text(yaml.safe_dump(config))
            with running_prometheus(file, host=cluster.host) as found:
                yield found


def _metrics(pod: Object) -> list[int]:
    """Return the metrics ports of a running pod."""
    if pod["status"]["phase"] != "Running":
        return []
    ports = [port for each in pod["spec"]["containers"] for port in each.get("ports", [])]
    return [each["containerPort"] for each in ports if each.get("name") == "metrics"]


@contextmanager
def _discovery(targets: Callable[[], list[Object]]) -> Iterator[str]:
    """Serve the scrape targets to Prometheus over HTTP, and yield the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(targets()).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
