"""The agent of the harness: its rails are called at two agents, an outer and an inner one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openjiuwen.core.foundation.llm import Model
from openjiuwen.core.foundation.llm.schema.config import ModelClientConfig, ModelRequestConfig
from openjiuwen.harness.factory import create_deep_agent

from continuity_core import Continuity
from continuity_core.hosts.openjiuwen import ContinuityRail
from continuity_core.testing.fault_server import FaultServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
async def test_a_deep_agent_that_is_cut_and_gets_nothing_goes_on(
    server: FaultServer,
    load: Callable[..., Continuity],
    streamed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # It keeps a workspace.
    server.play([{"text": "HALF", "stop": "length"}, {"text": ""}, {"text": "done"}])
    rail = ContinuityRail(continuity=load())
    agent = create_deep_agent(
        model=Model(
            ModelClientConfig(
                client_provider="OpenAI", api_key="any", api_base=server.base_url, verify_ssl=False
            ),
            ModelRequestConfig(model="scripted", max_tokens=64),
        ),
        rails=[rail],
        enable_read_image_multimodal=False,
    )
    asked = {"query": "Finish the task", "conversation_id": f"deep-{streamed}"}
    result: Any
    if streamed:
        result = [chunk async for chunk in agent.stream(asked)][-1].payload
    else:
        result = await agent.invoke(asked)
    assert result["output"] == "done"
    assert not server.requests[1].mentions("HALF")
    assert [len(request.user_texts) for request in server.requests] == [1, 1, 1]
    assert rail.report is not None
    assert rail.report.outcome == "completed"
    assert rail.report.resumes == 2
