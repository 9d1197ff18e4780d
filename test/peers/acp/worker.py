"""An agent made with the Python SDK: a plan, a thought, a tool, an answer."""
import asyncio
from typing import Any

from acp import (
    Agent,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    plan_entry,
    run_agent,
    start_read_tool_call,
    text_block,
    update_agent_message,
    update_agent_thought,
    update_plan,
    update_tool_call,
)
from acp.schema import Implementation


class Worker(Agent):
    _conn: Any

    def on_connect(self, conn: Any) -> None:
        self._conn = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        info = Implementation(name="python-worker", version="0.12.1")
        return InitializeResponse(protocol_version=protocol_version, agent_info=info)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id="work")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        for update in (
            update_plan([plan_entry("Look", status="in_progress"), plan_entry("Answer")]),
            update_agent_thought(text_block("Let me see.")),
            start_read_tool_call("r", "read", "/srv/notes.txt"),
            update_tool_call("r", status="completed"),
            update_agent_message(text_block("Here it is.")),
        ):
            await self._conn.session_update(session_id=session_id, update=update)
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(Worker()))
