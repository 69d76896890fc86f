"""The files of deploy/ other than nginx.conf match the repository, as far as can be checked without containers."""

import configparser
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from signalbox.app.config import Settings
from signalbox.cli import main

from tests.conftest import ROOT
from tests.project.docs.pages import page
from tests.support.postgres import Server

DEPLOY = ROOT / "deploy"
SETTINGS = {name.upper() for name in Settings.model_fields}
# The drain, and the time that its end may take (docs/operating.md).
PATIENCE = Settings.model_fields["signalbox_drain_seconds"].default + 10
# Set by the image: health checks and nginx use its port.
IMAGE = {"SIGNALBOX_HOST", "SIGNALBOX_PORT", "SIGNALBOX_DATA_DIR"}
# Read by uvicorn: which proxies may set the client's address.
OTHERS = {"FORWARDED_ALLOW_IPS", "PATH", "PYTHONUNBUFFERED"}
# OpenTelemetry's own, as docs/tracing.md names them.
TRACES = set(re.findall(r"`(OTEL_[A-Z_]+)`", (ROOT / "docs" / "tracing.md").read_text(encoding="utf-8")))
# Where the workers see deploy/files.
FILES = "/etc/signalbox"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """Parse the compose file."""
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def workers(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the compose services that run Signalbox."""
    return {name: one for name, one in compose["services"].items() if name.startswith("signalbox")}


def test_the_workers_are_alike(workers: dict[str, dict[str, Any]]) -> None:
    """There are several workers with the same database, operator token and data folder."""
    assert len(workers) > 1
    first = next(iter(workers.values()))
    assert all(one == first for one in workers.values())
    assert {"DATABASE_URL", "SIGNALBOX_ADMIN_TOKEN", "SIGNALBOX_ACCESS_TOKEN"} <= set(first["environment"])
    assert first["volumes"] == ["data:/data", f"./files:{FILES}:ro"]
    assert int(first["stop_grace_period"].removesuffix("s")) >= PATIENCE
    assert "/health/ready" in first["healthcheck"]["test"][-1]


def test_every_name_is_a_setting(workers: dict[str, dict[str, Any]]) -> None:
    """Every environment variable is a setting."""
    for one in workers.values():
        assert set(one["environment"]) <= SETTINGS | OTHERS | TRACES
    env = re.findall(r"^(?:ENV|   ) ?([A-Z_]+)=", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(env) <= SETTINGS | OTHERS
    assert "SIGNALBOX_DATA_DIR" in env


def test_every_setting_reaches_every_worker(workers: dict[str, dict[str, Any]]) -> None:
    """Each setting of .env.example and each variable of traces is passed on under its own name."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE)) | set(re.findall(r"\bOTEL_[A-Z_]+\b", example))
    assert len(named & TRACES) > 0
    for one in workers.values():
        assert set(one["environment"]) == SETTINGS - IMAGE | {"FORWARDED_ALLOW_IPS"} | TRACES
        assert named - IMAGE <= set(one["environment"])
        for name in set(one["environment"]) - {"FORWARDED_ALLOW_IPS", "DATABASE_URL"} - TRACES:
            assert one["environment"][name].startswith(f"${{{name}:")
        # Without a value, an unset variable stays unset: OpenTelemetry's SDK does not accept every empty value.
        assert {one["environment"][name] for name in TRACES} == {None}


def test_files_and_keys_reach_every_worker(workers: dict[str, dict[str, Any]]) -> None:
    """Files that settings name and keys of upstreams are in deploy/files, which Git ignores."""
    rules = (DEPLOY / "files" / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "*" in rules
    text = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    for name in ("SIGNALBOX_UPSTREAMS", "SIGNALBOX_FLAG_FILE", "OTEL_EXPORTER_OTLP_CERTIFICATE"):
        [path] = re.findall(rf"`{name}=([^`]+)`", text)
        assert path.startswith(f"{FILES}/")
        assert f"| `{path.removeprefix(FILES + '/')}`" in text
    for one in workers.values():
        assert one["env_file"] == [{"path": "files/keys.env", "required": False}]


def test_secrets_come_from_outside(compose: dict[str, Any]) -> None:
    """The file contains no secret and no default for one: compose refuses to start without them."""
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    assert compose["name"] == "signalbox"
    for name in ("POSTGRES_PASSWORD", "SIGNALBOX_ACCESS_TOKEN", "SIGNALBOX_ADMIN_TOKEN"):
        assert text.count(f"${{{name}:?") == len(re.findall(rf"\$\{{{name}", text)) > 0


def test_every_path_exists(compose: dict[str, Any]) -> None:
    """Build contexts and mounted files exist, and every image has an exact tag."""
    for one in compose["services"].values():
        if "build" in one:
            context = (DEPLOY / one["build"]["context"]).resolve()
            assert context == ROOT
            assert (context / one["build"]["dockerfile"]).is_file()
        for volume in one["volumes"]:
            source = volume.partition(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in compose["volumes"]
        assert re.search(r":\d", one["image"])


def test_nginx_is_led_to_the_workers(
    compose: dict[str, Any], workers: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """The nginx service's command puts exactly the workers' addresses into the sample."""
    shell, flag, script = compose["services"]["nginx"]["command"]
    there = tmp_path / "nginx.conf"
    script = script.replace("/sample.conf", str(DEPLOY / "nginx.conf")).replace("/etc/nginx/nginx.conf", str(there))
    subprocess.run([shell, flag, script.partition("&&")[0]], check=True)
    led = set(re.findall(r"^ +server ([\w.:-]+) ", there.read_text(encoding="utf-8"), re.MULTILINE))
    assert led == {f"{name}:8000" for name in workers}


def test_the_image() -> None:
    """The image installs only from the hashed lock, runs as an unprivileged user, and copies existing files."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements/run.txt" in text
    assert not re.search(r"https?://(?!127\.0\.0\.1)|index-url|find-links", text)
    assert "--hash=" in (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    assert text.index("\nUSER signalbox") < text.index("\nENTRYPOINT")
    assert "/health/ready" in text
    for copied in re.findall(r"^COPY (?!--from)(\S+)", text, re.MULTILINE):
        assert (ROOT / copied).exists()
    removed = re.search(r"uninstall --yes (.+)$", text, re.MULTILINE)
    assert removed
    lock = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    assert [name for name in removed[1].split() if f"\n{name}==" not in lock] == []


def test_what_the_image_is_built_from() -> None:
    """The build context excludes everything except named files: no secrets and no data."""
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    let_in = {line[1:] for line in rules if line.startswith("!")}
    assert rules[0] == "*"
    assert all((ROOT / name).exists() for name in let_in)
    assert {"backend", "frontend", "docs", "hatch_build.py", "scripts", "requirements"} <= let_in
    assert not {"data", ".env", ".git"} & let_in


def test_the_database_that_the_page_makes(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The role that docs/deploy.md creates can create the tables in its database."""
    [lines] = page("deploy.md").blocks("sql")
    for line in lines.strip().split("\n"):
        postgres.sql(line)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", postgres.url("signalbox", "signalbox"))
    for arguments in (["create", "Ada"], ["list"]):
        assert main(["token", *arguments]) == 0
    assert "Ada" in capsys.readouterr().out


def test_the_unit() -> None:
    """The systemd unit uses existing settings and verbs, and waits for a drain before a kill."""
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "signalbox.service", encoding="utf-8")
    service = unit["Service"]
    assert service["Environment"].partition("=")[0] in SETTINGS
    assert int(service["TimeoutStopSec"]) >= PATIENCE
    assert service["KillMode"] == "mixed"
    verb = service["ExecStart"].split()[1:]
    with pytest.raises(SystemExit) as ended:
        main([*verb, "--help"])
    assert ended.value.code == 0
