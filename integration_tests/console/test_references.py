"""Pages compared with reference pictures, which SCAAR_CONSOLE_REFERENCES=renew writes again.

The services are in memory, with fixed records and a fixed time, and the font is one that every
Debian machine can have. Pictures are compared by the mean colours of blocks, so that neither the
smoothing of glyphs nor a shift by a pixel counts, and a missing part, another wrap or another
colour does.
"""

import base64
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from playwright.sync_api import Browser, Page, Route
from starlette.testclient import TestClient

from scaar.core.errors import NotFound
from scaar.core.records import AnswerRecord, ExplainRecordRequest, RecordExplanation
from scaar.records.explanation import explain
from scaar.testing.console_back_ends import (
    NOW,
    ListedRecords,
    catalog,
    groups_until,
    open_pages,
    record_of,
)
from scaar.v1 import records_pb2
from scaar.wire.messages.codec import from_pb

FOLDER = Path(__file__).parent / "references"
RENEWS = os.environ.get("SCAAR_CONSOLE_REFERENCES") == "renew"
RECORD: AnswerRecord = from_pb(
    Parse((FOLDER / "record.json").read_text(), records_pb2.AnswerRecord()), AnswerRecord
)
ANSWER = f"/answers/{RECORD.summary.id}?theta=0.12"
PAGES = (
    *(("answer", ANSWER), ("what-if", f"{ANSWER}#what-if"), ("answers", "/answers")),
    *(("policies", "/policies"), ("drift", "/drift?period=day")),
)
PICTURES = [
    *((name, path, 1280, scheme) for name, path in PAGES for scheme in ("light", "dark")),
    ("answer", ANSWER, 390, "light"),
]
HEIGHT = 1400
SCALES = {1280: 0.5, 390: 1.0}
"""Pixels of a picture for a pixel of the page: wide pages are drawn at half of their size."""
BLOCK, FAR, MAX_SHARE = 8, 20, 0.01
"""Side of a block in pixels, difference of a mean colour (0 to 255) from which a block differs, and
maximum share of the blocks that differ."""
MAX_BYTES = 150_000
FONT = """
@font-face { font-family: Reference; src: local("DejaVu Sans"); }
@font-face { font-family: Reference; src: local("DejaVu Sans Bold"); font-weight: 600 900; }
@font-face { font-family: "Reference Mono"; src: local("DejaVu Sans Mono"); }
html { font-family: Reference !important; }
code, pre, kbd { font-family: "Reference Mono" !important; }
"""
HAS_FONT = """
async () => {
  const fonts = ["16px Reference", "bold 16px Reference", "16px 'Reference Mono'"];
  const loaded = fonts.map((each) => document.fonts.load(each).catch(() => []));
  const found = (await Promise.all(loaded)).map(([each]) => each?.status);
  return found.every((status) => status === "loaded");
}
"""
COMPARE = """
async ([reference, picture, block, far]) => {
  const read = async (content) => {
    const image = new Image();
    image.src = "data:image/png;base64," + content;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return { canvas, context, pixels: context.getImageData(0, 0, image.width, image.height) };
  };
  const [before, after] = [await read(reference), await read(picture)];
  const { width, height } = before.pixels;
  const size = [after.pixels.width, after.pixels.height];
  if (size[0] !== width || size[1] !== height) return { size, share: 1, difference: picture };
  const mean = ({ data }, left, top, channel) => {
    let sum = 0, count = 0;
    for (let y = top; y < Math.min(top + block, height); y++)
      for (let x = left; x < Math.min(left + block, width); x++, count++)
        sum += data[4 * (y * width + x) + channel];
    return sum / count;
  };
  const differs = (left, top) => [0, 1, 2].some((each) =>
    Math.abs(mean(before.pixels, left, top, each) - mean(after.pixels, left, top, each)) > far);
  let all = 0, different = 0;
  after.context.fillStyle = "rgb(255 0 0 / 0.5)";
  for (let top = 0; top < height; top += block)
    for (let left = 0; left < width; left += block, all++)
      if (differs(left, top)) {
        different++;
        after.context.fillRect(left, top, block, block);
      }
  const bytes = new Uint8Array(await (await after.canvas.convertToBlob()).arrayBuffer());
  let text = "";
  for (const each of bytes) text += String.fromCharCode(each);
  return { size, share: different / all, difference: btoa(text) };
}
"""
"""Returns the share of the blocks that differ, and the picture with these blocks in red."""


class ReferenceRecords(ListedRecords):
    """The records of the lists, and the one of the page of an answer."""

    async def get_record(self, record_id: str) -> AnswerRecord:
        if record_id != RECORD.summary.id:
            raise NotFound(f"there is no record {record_id!r}")
        return RECORD

    async def explain_record(self, request: ExplainRecordRequest) -> RecordExplanation:
        return explain(RECORD, request)


@pytest.fixture(scope="module")
def pages() -> Iterator[TestClient]:
    records = ReferenceRecords([record_of(at) for at in range(25)], groups_until(NOW))
    with open_pages(catalog=catalog(), records=records) as client:
        yield client


@pytest.fixture(scope="module")
def drawn(chromium: Callable[..., Browser]) -> Iterator[Browser]:
    """A browser that draws text as alike as it can be on different machines."""
    flags = ("--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb")
    with chromium(*flags) as browser:
        yield browser


@pytest.mark.parametrize(("name", "path", "width", "scheme"), PICTURES)
def test_a_page_looks_like_its_reference(
    drawn: Browser,
    pages: TestClient,
    tmp_path: Path,
    name: str,
    path: str,
    width: int,
    scheme: str,
) -> None:
    picture = _picture(drawn, pages, path, width, scheme)
    reference = FOLDER / f"{name}-{width}-{scheme}.png"
    if RENEWS:
        reference.write_bytes(picture)
    assert len(picture) < MAX_BYTES
    found = _compared(drawn, reference.read_bytes(), picture)
    if found["share"] <= MAX_SHARE:
        return
    shown = tmp_path / f"{reference.stem}-difference.png"
    shown.write_bytes(base64.b64decode(found["difference"]))
    pytest.fail(
        f"{found['share']:.1%} of the blocks of {path} at {width} pixels, {scheme}, differ from "
        f"{reference}, at most {MAX_SHARE:.0%} may: they are red in {shown}. Set "
        "SCAAR_CONSOLE_REFERENCES=renew to write the references again."
    )


@pytest.mark.parametrize(
    "change",
    [
        ".words { display: none !important; }",
        ":root { --good: #7a4b00 !important; --mark: #ffffff !important; }",
        "main { margin-top: 1.5rem !important; }",
    ],
)
def test_the_comparison_finds_a_missing_part_another_colour_and_another_place(
    drawn: Browser, pages: TestClient, change: str
) -> None:
    reference = (FOLDER / "answer-1280-light.png").read_bytes()
    picture = _picture(drawn, pages, ANSWER, 1280, "light", style=change)
    assert _compared(drawn, reference, picture)["share"] > MAX_SHARE


def _picture(
    browser: Browser, pages: TestClient, path: str, width: int, scheme: str, *, style: str = ""
) -> bytes:
    def answer(route: Route) -> None:
        response = pages.get(route.request.url.removeprefix("http://console"))
        headers = {"content-type": response.headers["content-type"]}
        route.fulfill(status=response.status_code, headers=headers, body=response.content)

    page = browser.new_page(
        viewport={"width": width, "height": HEIGHT},
        device_scale_factor=SCALES[width],
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    try:
        page.route("**/*", answer)
        page.goto(f"http://console{path}")
        page.add_style_tag(content=FONT + style)
        if fragment := path.partition("#")[2]:
            # The font has moved it.
            page.locator(f"#{fragment}").evaluate("(each) => each.scrollIntoView()")
        assert page.evaluate(HAS_FONT), "DejaVu Sans is missing: apt-get install fonts-dejavu-core"
        return page.screenshot(animations="disabled", mask=[page.locator("body > footer")])
    finally:
        page.close()


def _compared(browser: Browser, reference: bytes, picture: bytes) -> dict[str, Any]:
    page: Page = browser.new_page()
    try:
        given = [base64.b64encode(each).decode() for each in (reference, picture)]
        found: dict[str, Any] = page.evaluate(COMPARE, [*given, BLOCK, FAR])
        return found
    finally:
        page.close()
