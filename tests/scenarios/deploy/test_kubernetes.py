"""deploy/kubernetes/: valid for Kubernetes, consistent with the server, and a server starts with their settings."""

import json
import re
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from jsonschema import Draft202012Validator
from signalbox.app.config import Settings

from tests.conftest import ROOT
from tests.support.nginx import nginx
from tests.support.processes import Process, serving

FOLDER = ROOT / "deploy" / "kubernetes"
SCHEMA = json.loads(Path(__file__).with_name("kubernetes-1.37.json").read_text(encoding="utf-8"))
SETTINGS = {name.upper() for name in Settings.model_fields}
NOT_RESOURCES = {"kustomization.yaml"}
# The ending of runs that are left after the drain (docs/operating.md).
ENDING = 10
LABEL = {"app.kubernetes.io/name": "signalbox"}


def manifest(name: str) -> dict[str, Any]:
    """Parse a file with one document."""
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


FILES = sorted(path.name for path in FOLDER.iterdir() if path.name not in NOT_RESOURCES)


@pytest.fixture(scope="module")
def pod() -> dict[str, Any]:
    """Return the spec of the pods."""
    return manifest("deployment.yaml")["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def container(pod: dict[str, Any]) -> dict[str, Any]:
    """Return the only container."""
    [only] = pod["containers"]
    return only


def faults_of(resource: dict[str, Any]) -> list[str]:
    """Return what the strict schema of Kubernetes rejects."""
    schema = {"$ref": f"#/$defs/{SCHEMA['kinds'][resource['kind']]}", "$defs": SCHEMA["$defs"]}
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(resource)]


@pytest.mark.parametrize("name", FILES)
def test_every_manifest_is_valid(name: str) -> None:
    """Each file has one resource of a known version, without unknown fields, and the labels of all."""
    resource = manifest(name)
    assert faults_of(resource) == []
    assert resource["apiVersion"]
    assert resource["metadata"]["labels"] == LABEL


def test_the_schema_finds_mistakes() -> None:
    """An unknown field, a wrong type and a wrong version are rejected."""
    deployment = manifest("deployment.yaml")
    deployment["spec"]["template"]["spec"]["terminationGracePeriod"] = 40
    deployment["spec"]["replicas"] = "two"
    deployment["apiVersion"] = "apps/v1beta1"
    assert len(faults_of(deployment)) == 3


def test_kustomize_applies_every_file() -> None:
    """The list has each manifest, with the operator's copy of the secret instead of the example."""
    wanted = {name.replace("secret.example", "secret") for name in FILES}
    assert {*manifest("kustomization.yaml")["resources"]} == wanted
    assert not (FOLDER / "secret.yaml").exists()
    assert "deploy/kubernetes/secret.yaml" in (ROOT / ".gitignore").read_text(encoding="utf-8")


def environment() -> dict[str, str]:
    """Return the variables that a container gets."""
    secret, [container] = (
        manifest("secret.example.yaml"),
        manifest("deployment.yaml")["spec"]["template"]["spec"]["containers"],
    )
    own = {one["name"]: one["value"] for one in container["env"]}
    return {**manifest("configmap.yaml")["data"], **secret["stringData"], **own}


def test_every_variable_is_a_setting() -> None:
    """Names are settings of Signalbox, secrets are in the secret, and the loop is the default one."""
    names = set(environment())
    assert names <= SETTINGS | {"FORWARDED_ALLOW_IPS"}
    assert "TOOL_LOOP_V2" not in names
    secret = {name for name in names if re.search(r"TOKEN$|KEY$|DATABASE_URL", name)} - {"SIGNALBOX_REQUIRE_TOKEN"}
    assert secret == set(manifest("secret.example.yaml")["stringData"])


def test_sources_and_selectors_exist(pod: dict[str, Any], container: dict[str, Any]) -> None:
    """References between the manifests lead to existing resources and ports."""
    sources = {name for one in container["envFrom"] for name in ((next(iter(one))), one[next(iter(one))]["name"])}
    assert sources == {"configMapRef", "secretRef", "signalbox"}
    assert {volume["name"] for volume in pod["volumes"]} == {mount["name"] for mount in container["volumeMounts"]}
    [port] = manifest("service.yaml")["spec"]["ports"]
    assert port["targetPort"] in {one["name"] for one in container["ports"]}
    [rule] = manifest("ingress.yaml")["spec"]["rules"]
    [path] = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": "signalbox", "port": {"name": port["name"]}}
    assert rule["host"] == environment()["SIGNALBOX_ALLOWED_HOSTS"]
    selectors = (
        manifest("service.yaml")["spec"]["selector"],
        manifest("deployment.yaml")["spec"]["selector"]["matchLabels"],
        manifest("poddisruptionbudget.yaml")["spec"]["selector"]["matchLabels"],
        manifest("networkpolicy.yaml")["spec"]["podSelector"]["matchLabels"],
    )
    assert all(selector == LABEL for selector in selectors)


def test_prometheus_finds_the_metrics(container: dict[str, Any]) -> None:
    """The annotated port is the one of the settings, and only the monitoring namespace reaches it."""
    annotations = manifest("deployment.yaml")["spec"]["template"]["metadata"]["annotations"]
    ports = {one["name"]: str(one["containerPort"]) for one in container["ports"]}
    assert ports["metrics"] == annotations["prometheus.io/port"] == environment()["SIGNALBOX_METRICS_PORT"]
    assert ports["http"] == environment()["SIGNALBOX_PORT"]
    assert [one["port"] for one in manifest("service.yaml")["spec"]["ports"]] == [80]
    rules = manifest("networkpolicy.yaml")["spec"]["ingress"]
    assert [port["port"] for rule in rules for port in rule["ports"]] == ["http", "metrics"]


def test_a_rolling_update_waits_for_the_drain(pod: dict[str, Any], container: dict[str, Any]) -> None:
    """A pod gets no more requests before SIGTERM, and no SIGKILL before its drain has ended."""
    deployment = manifest("deployment.yaml")["spec"]
    assert deployment["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    wait = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = int(environment()["SIGNALBOX_DRAIN_SECONDS"])
    assert wait >= 5
    assert pod["terminationGracePeriodSeconds"] >= wait + drain + ENDING
    assert (
        manifest("poddisruptionbudget.yaml")["spec"]["maxUnavailable"] < manifest("deployment.yaml")["spec"]["replicas"]
    )


def test_the_container_may_do_little(pod: dict[str, Any], container: dict[str, Any]) -> None:
    """It runs as the user of the image, writes only to its volumes, and has no token of the cluster."""
    image = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert f"--uid {pod['securityContext']['runAsUser']}" in image
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    # The variables of a Service that is named signalbox would set SIGNALBOX_PORT to tcp://….
    assert pod["enableServiceLinks"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert environment()["SIGNALBOX_DATA_DIR"] in {mount["mountPath"] for mount in container["volumeMounts"]}


def test_only_the_network_of_the_pods_is_trusted() -> None:
    """The workers trust named networks, so that they take no entry of X-Forwarded-For that a client sent."""
    for network in environment()["FORWARDED_ALLOW_IPS"].split(","):
        assert 0 < ip_network(network.strip()).prefixlen < 32


def test_a_client_cannot_choose_its_address(tmp_path: Path) -> None:
    """Behind a proxy that appends to X-Forwarded-For, as F5's controller does, forged addresses count as one client."""
    appends = {"X-Forwarded-For $remote_addr;": "X-Forwarded-For $proxy_add_x_forwarded_for;"}
    trusted = (
        f"{environment()['FORWARDED_ALLOW_IPS']},127.0.0.1"  # the address of nginx here; the client has another one
    )
    env = {"FORWARDED_ALLOW_IPS": trusted, "SIGNALBOX_RATE_LIMIT": "2/minute"}
    with (
        serving(tmp_path, env=env) as process,
        nginx(tmp_path / "nginx", int(process.url.rpartition(":")[2]), changes=appends) as front,
        httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2"), base_url=front.url) as client,
    ):
        answers = [
            client.post(
                "/api/chat", json={"model": "openai/sim", "prompt": "Hello!"}, headers={"x-forwarded-for": forged}
            )
            for forged in ("203.0.113.1", "203.0.113.2", "203.0.113.3, 10.244.0.9", "127.0.0.1")
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]


def test_streams_pass_through_the_ingress() -> None:
    """Both nginx controllers stream, wait for three pings, and accept bodies of the server's limit."""
    annotations = manifest("ingress.yaml")["metadata"]["annotations"]
    size = f"{environment()['SIGNALBOX_MAX_BODY_MB']}m"
    for prefix, off, seconds, limit in (
        ("nginx.org", "false", "45s", "client-max-body-size"),
        ("nginx.ingress.kubernetes.io", "off", "45", "proxy-body-size"),
    ):
        assert annotations[f"{prefix}/proxy-buffering"] == off
        assert annotations[f"{prefix}/proxy-read-timeout"] == seconds
        assert annotations[f"{prefix}/{limit}"] == size
        assert annotations[f"{prefix}/proxy-next-upstream"] == "error timeout http_503"


def test_files_and_keys_reach_the_pods(pod: dict[str, Any], container: dict[str, Any]) -> None:
    """An optional ConfigMap holds the files that settings name; every name in the Secret becomes a variable."""
    [files] = [volume["configMap"] for volume in pod["volumes"] if volume["name"] == "files"]
    assert files == {"name": "signalbox-files", "optional": True}
    [mount] = [mount for mount in container["volumeMounts"] if mount["name"] == "files"]
    text = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    assert f"create configmap {files['name']} --from-file=upstreams.toml" in text
    assert f"`SIGNALBOX_UPSTREAMS: {mount['mountPath']}/upstreams.toml`" in text
    assert {"secretRef": {"name": "signalbox"}} in container["envFrom"]


def test_the_tag_is_changed_in_the_file() -> None:
    """The docs change the version in the file that `apply` reads, not only in the cluster."""
    [image] = manifest("kustomization.yaml")["images"]
    assert manifest("deployment.yaml")["spec"]["template"]["spec"]["containers"][0]["image"] == image["name"]
    text = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    assert "`newTag`" in text
    assert "newTag" in image
    assert "kubectl -n signalbox set image" not in text


@pytest.fixture
def server(tmp_path: Path, postgres_url: str) -> Iterator[Process]:
    """Start a server with the container's environment and a real database."""
    data = tmp_path / "data"
    data.mkdir(mode=0o2777)
    own = {
        "DATABASE_URL": postgres_url,
        "SIGNALBOX_DATA_DIR": str(data),
        "SIGNALBOX_PORT": "0",
        "SIGNALBOX_METRICS_PORT": "",
    }
    tokens = {"SIGNALBOX_ADMIN_TOKEN": "a" * 48, "SIGNALBOX_ACCESS_TOKEN": "b" * 48}
    process = Process(["-m", "signalbox", "serve"], tmp_path, {**environment(), **tokens, **own}).ready()
    yield process
    process.process.terminate()
    process.end()


def test_a_server_starts_with_these_settings(server: Process, container: dict[str, Any]) -> None:
    """The probes get 200, clients need the host name and a token, and runs use V2."""
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            probe = container[name]["httpGet"]
            headers = {"host": "10.1.2.3:8000"} | {one["name"].lower(): one["value"] for one in probe["httpHeaders"]}
            answer = client.get(probe["path"], headers=headers)
            assert (answer.status_code, name) == (200, name), answer.text
        host = {"host": "chat.example.org"}
        assert client.get("/api/runs", headers={"host": "10.1.2.3:8000"}).status_code == 403
        assert client.get("/api/runs", headers=host).status_code == 401
        token = {**host, "authorization": f"Bearer {'b' * 48}"}
        body = {"model": "openai/sim", "prompt": "Hello!"}
        asked = client.post("/api/chat/stream", json=body, headers=token)
        assert (asked.status_code, asked.headers["x-tool-loop"]) == (200, "v2")
