"""The metrics of the services as a table."""

from reference.markdown import plain, table
from scaar.telemetry.metric_table import METRICS


def metrics() -> str:
    """Every metric of the table, by its name."""
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
    return table(["metric", "is a", "labels", "of", ""], rows)
