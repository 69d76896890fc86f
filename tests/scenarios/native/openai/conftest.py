"""An app over the simulator's Responses API."""

from collections.abc import Iterator

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.native.native_runs import NativeAsker, app_over
from tests.support.running_app import RunningApp


@pytest.fixture(scope="session")
def openai_app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app over the Responses API for all tests."""
    folder = tmp_path_factory.mktemp("openai")
    with app_over(simulator, folder, dialect="openai-responses", base="/openai/v1", family="openai") as running:
        yield running


@pytest.fixture
def ask_openai(openai_app: RunningApp, simulator: BackgroundSimulator, no_waiting: list[Retry]) -> NativeAsker:
    """Ask OpenAI's models without retry delays."""
    return NativeAsker(openai_app, simulator, "/openai/v1/responses", "openai")


@pytest.fixture(scope="session")
def chat_app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app over OpenAI's chat completions for all tests."""
    folder = tmp_path_factory.mktemp("openai-chat")
    with app_over(simulator, folder, dialect="openai-chat", base="/openai/v1", family="openai") as running:
        yield running


@pytest.fixture
def ask_chat(chat_app: RunningApp, simulator: BackgroundSimulator, no_waiting: list[Retry]) -> NativeAsker:
    """Ask OpenAI's models over chat completions without retry delays."""
    return NativeAsker(chat_app, simulator, "/openai/v1/chat/completions", "openai")
