"""Requests to every endpoint for files."""

import httpx


def use_files(client: httpx.Client) -> None:
    """Write, read, restore, download and delete files, also those that do not exist."""
    listed = client.get("/api/conversations").json()["conversations"]
    path = f"/api/conversations/{next(one['id'] for one in listed if one['messages'])}"
    file, versions = f"{path}/files/index.html", f"{path}/file-versions/index.html"
    for answer in (client.get(file), client.delete(file), client.get(versions)):
        assert answer.status_code == 404
    for content in (b"<p>", b"<h1>"):
        client.put(file, content=content)
    client.put(file, content=b"", params={"base_version": 1})
    client.put(f"{path}/files/logo.png", content=b"none")
    etag = client.get(file).headers["etag"]
    client.get(file, headers={"if-none-match": etag})
    for found in ("/files", "/files.zip", "/files?node_id=none"):
        client.get(path + found)
    client.get(versions)
    for version in (1, 9, 0):
        client.post(versions, json={"version": version})
    client.delete(file, params={"base_version": 1})
    client.delete(file)
