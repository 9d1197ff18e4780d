"""An agent made with the Python SDK: it says what it was told."""
import asyncio
from typing import Any
from uuid import uuid4

from acp import (
    Agent,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    text_block,
    update_agent_message,
)
from acp.schema import Implementation


class EchoAgent(Agent):
    _conn: Any

    def on_connect(self, conn: Any) -> None:
        self._conn = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        info = Implementation(name="python-echo", version="0.12.1")
        return InitializeResponse(protocol_version=protocol_version, agent_info=info)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id=uuid4().hex)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        for block in prompt:
            update = update_agent_message(text_block(getattr(block, "text", "")))
            await self._conn.session_update(session_id=session_id, update=update)
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(EchoAgent()))
