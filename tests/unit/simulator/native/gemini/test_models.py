"""The model list is paged, and has the limits of each model."""

import httpx
import pytest


def test_pages(gemini: httpx.Client) -> None:
    """`nextPageToken` leads through all models."""
    names: list[str] = []
    token: str | None = "0"
    while token:
        page = gemini.get("/models", params={"pageSize": "3", "pageToken": token}).json()
        assert len(page["models"]) <= 3
        names += [model["name"] for model in page["models"]]
        token = page.get("nextPageToken")
    whole = gemini.get("/models", params={"pageSize": "1000"}).json()["models"]
    assert names == [model["name"] for model in whole]
    assert {"models/sim", "models/gemini-2.5-flash", "models/sim-cut", "models/sim-error-429"} <= set(names)
    assert "models/sim-quirk-a01" not in names


@pytest.mark.parametrize("name", ["sim", "gemini-2.5-flash", "sim-parallel"])
def test_one_model(gemini: httpx.Client, name: str) -> None:
    """A model has its name, limits and methods."""
    model = gemini.get(f"/models/{name}").json()
    assert model["name"] == f"models/{name}"
    assert model["inputTokenLimit"] == 1_048_576
    assert "generateContent" in model["supportedGenerationMethods"]
    assert model["thinking"] is True


def test_versions(gemini: httpx.Client) -> None:
    """The API has two versions; the SDK uses `v1` since its version 3."""
    root = str(gemini.base_url).removesuffix("/v1beta/")
    assert gemini.get(f"{root}/v1/models").json() == gemini.get("/models").json()
    assert gemini.get(f"{root}/v3/models").status_code == 404
    message = gemini.get(f"{root}/v1/models/gpt-4o").json()["error"]["message"]
    assert message.startswith("models/gpt-4o is not found for API version v1,")


def test_bad_queries(gemini: httpx.Client) -> None:
    """An unknown model is a 404, a page size that is no number a 400."""
    assert gemini.get("/models/gpt-4o").status_code == 404
    assert gemini.get("/models", params={"pageSize": "many"}).status_code == 400
