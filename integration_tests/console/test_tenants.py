"""The record of another tenant, requested by its link."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from scaar.client import RecordFilter, open_sync_client, open_sync_records_client
from scaar.testing.certificates import Authority
from scaar.testing.processes import running_service

from .conftest import QUESTION, Recorded

TENANTS = {"one": "acme", "two": "globex"}
"""The tenant of each token."""


@dataclass(frozen=True)
class Separated:
    """A console in front of records that are read by token, and the ids of records by tenant."""

    url: str
    ids: dict[str, str]


@pytest.fixture(scope="module")
def separated(recorded: Recorded, home: Path) -> Iterator[Separated]:
    ids = {}
    with open_sync_records_client(recorded.records) as records:
        for tenant in TENANTS.values():
            metadata = {"x-scaar-tenant": tenant}
            with open_sync_client(recorded.lab.target, metadata=metadata) as client:
                client.answer(QUESTION, policy="flare")
            while not (found := records.list_records(RecordFilter(tenant=tenant)).records):
                pass
            ids[tenant] = found[0].id
    authority = Authority(home.with_name("authority"))
    issued, identities = authority.issue(), home.with_name("identities.yaml")
    lines = (f"  {sha256(each.encode()).hexdigest()}: {name}\n" for each, name in TENANTS.items())
    identities.write_text("tokens:\n" + "".join(lines))
    serving = {
        "SCAAR_RECORDS_TLS_CERT_FILE": str(issued.cert),
        "SCAAR_RECORDS_TLS_KEY_FILE": str(issued.key),
        "SCAAR_RECORDS_IDENTITIES_FILE": str(identities),
    }
    with (
        running_service("records", home, **serving) as service,
        running_service(
            "console",
            home,
            SCAAR_CONSOLE_ORCHESTRATOR_TARGET=recorded.lab.target,
            SCAAR_CONSOLE_RECORDS_TARGET=service.target,
            SCAAR_CONSOLE_READ_ONLY="false",
            SCAAR_CHANNEL_TLS="true",
            SCAAR_CHANNEL_CA_FILE=str(authority.ca),
        ) as console,
    ):
        yield Separated(console.target.removeprefix("dns:///"), ids)


@pytest.mark.parametrize("path", ["/answers/ID", "/answers/ID.json", "/answers/ID/what-if"])
def test_the_record_of_another_tenant_is_an_unknown_one(
    browser: Browser, separated: Separated, path: str
) -> None:
    headers = {"authorization": "Bearer two"}
    context = browser.new_context(base_url=separated.url, extra_http_headers=headers)
    page = context.new_page()
    own = page.goto(path.replace("ID", separated.ids["globex"])) if path == "/answers/ID" else None
    assert own is None or own.status == 200
    texts = []
    for name in (separated.ids["acme"], "0" * len(separated.ids["acme"])):
        response = page.request.get(path.replace("ID", name))
        assert response.status == 404
        texts.append(response.text().replace(name, "ID"))
    assert texts[0] == texts[1]
    assert "there is no record" in texts[0]
    context.close()


def test_another_tenant_changes_and_lists_nothing(browser: Browser, separated: Separated) -> None:
    headers = {"authorization": "Bearer two"}
    context = browser.new_context(base_url=separated.url, extra_http_headers=headers)
    page = context.new_page()
    page.goto("/answers")
    links = page.locator("table.data th a").evaluate_all("(all) => all.map((each) => each.href)")
    assert links == [f"{separated.url}/answers/{separated.ids['globex']}"]
    posted = page.request.post(
        f"/answers/{separated.ids['acme']}/feedback", form={"verdict": "wrong"}
    )
    assert posted.status == 404
    other = browser.new_context(
        base_url=separated.url, extra_http_headers={"authorization": "Bearer one"}
    )
    shown = other.new_page()
    shown.goto(f"/answers/{separated.ids['acme']}")
    assert "Verdict:" not in shown.locator("main").inner_text()
    context.close()
    other.close()
