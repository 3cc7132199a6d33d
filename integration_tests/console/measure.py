"""Time to the first content of the console's pages, and their size: a benchmark without assertions.

    python -m integration_tests.console.measure [URL] [ROUNDS]

The pages of a running console, by default that of `scaar up`, are opened in Chromium in turn, each
in a new context, so that nothing is cached. The first content is that of the browser's paint timing
(first-contentful-paint), from the start of the navigation; the size is what a page transfers with
its style sheets and scripts, compressed, headers included.
"""

import os
import shutil
import statistics
import sys

from playwright.sync_api import Browser, sync_playwright

PATHS = ("/", "/answers", "/policies", "/indexes", "/evaluations", "/drift", "/system")
PAINTED = "performance.getEntriesByName('first-contentful-paint').length > 0"
TIMES = """
() => {
  const [page] = performance.getEntriesByType("navigation");
  const files = performance.getEntriesByType("resource");
  return {
    paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    response: page.responseEnd,
    bytes: [page, ...files].reduce((sum, each) => sum + each.transferSize, 0),
  };
}
"""


def main(url: str = "http://localhost:8091", rounds: str = "10") -> None:
    found = os.environ.get("SCAAR_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        paths = [*PATHS, *_answers(browser, url)]
        times = {path: [_measured(browser, url, path)] for path in paths}
        for _ in range(int(rounds)):
            for path, measured in times.items():
                measured.append(_measured(browser, url, path))
        browser.close()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    print("| page | first content, median ms | slowest | response, median ms | kB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for path, (_, *measured) in times.items():
        paints, responses, sizes = zip(*measured, strict=True)
        print(
            f"| {path} | {statistics.median(paints):.0f} | {max(paints):.0f} "
            f"| {statistics.median(responses):.0f} | {max(sizes) / 1000:.1f} |"
        )


def _answers(browser: Browser, url: str) -> list[str]:
    """Return the path of the newest answer; none without one."""
    page = browser.new_page()
    page.goto(f"{url}/answers")
    links = page.locator("table.data tbody th a").all()[:1]
    paths = [str(each.get_attribute("href")) for each in links]
    page.close()
    return paths


def _measured(browser: Browser, url: str, path: str) -> tuple[float, float, float]:
    """Return the time to the first content and to the whole response, in ms, and the bytes."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{url}{path}")
    # Waiting for a function would evaluate a text, which the pages' policy forbids.
    while not page.evaluate(PAINTED):
        page.wait_for_timeout(10)
    times = page.evaluate(TIMES)
    context.close()
    return times["paint"], times["response"], times["bytes"]


if __name__ == "__main__":
    main(*sys.argv[1:])
