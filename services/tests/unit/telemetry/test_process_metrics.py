import json
import subprocess
import sys

# In a process of its own: the library decides as it is loaded where it keeps its values.
TELLING = """
import json, os
from urllib.request import urlopen

from scaar.core.observers import BreakerState, Dependency
from scaar.telemetry.process_metrics import open_process_metrics

ORCHESTRATOR = Dependency("orchestrator", "dns:///orchestrator:50051")
with open_process_metrics("127.0.0.1:0", service="worker") as metrics:
    read_end, write_end = os.pipe()
    wait, end = os.pipe()
    for state in (BreakerState.OPEN, BreakerState.OPEN, BreakerState.CLOSED):
        if os.fork() == 0:
            metrics.breakers.on_breaker_state(ORCHESTRATOR, state)
            metrics.breakers.on_call_refused(ORCHESTRATOR)
            os.close(end)
            os.write(write_end, b".")
            os.read(wait, 1)
            os._exit(0)
        os.read(read_end, 1)
    lines = urlopen(f"http://{metrics.address}/metrics").read().decode().splitlines()
    os.close(end)
    for _ in range(3):
        os.wait()
print(json.dumps([line for line in lines if line.startswith("scaar_breaker_")]))
"""


def test_processes_report_their_worst_breaker_state_and_the_sum_of_refusals() -> None:
    reported = subprocess.run(
        [sys.executable, "-c", TELLING], capture_output=True, check=True, text=True
    )
    labels = '{dependency="orchestrator",target="dns:///orchestrator:50051"}'
    assert sorted(json.loads(reported.stdout)) == [
        f"scaar_breaker_refusals_total{labels} 3.0",
        f"scaar_breaker_state{labels} 2.0",
    ]
