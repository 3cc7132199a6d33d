"""Table of the metrics of the services."""

from reference.markdown import plain, table
from scaar.telemetry.metric_table import METRICS


def metrics() -> str:
    """Return one row for each metric."""
    rows = [
        [
            f"`{each.name}`",
            each.kind.value,
            ", ".join(f"`{label}`" for label in each.labels),
            each.of,
            plain(each.help),
        ]
        for each in METRICS
    ]
    return table(["metric", "type", "labels", "service", "description"], rows)
