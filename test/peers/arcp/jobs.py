"""The real Python client: submit, every kind of event, budget, chunks, failure, timeout."""

from arcp import AgentNotAvailableError, BudgetExhaustedError, InternalError, UnauthenticatedError
from arcp import AgentVersionNotAvailableError
from peer import connected, events_of, messages, raises, run


async def main():
    async with connected() as client:
        assert client.session_id.startswith("sess_")
        handle = await client.submit(agent="echo", input={"hi": "grüße"})
        assert messages(await events_of(handle)) == ["echo started"]
        assert (await handle.done).result == {"echoed": {"hi": "grüße"}}

        lease = {"cost.budget": ["USD:5.00", "USD:0.50", "credits:10"], "tool.call": ["*"]}
        handle = await client.submit(agent="kinds", lease_request=lease)
        assert handle.budget == {"USD": "USD:5.5", "credits": "credits:10"}, handle.budget
        events = await events_of(handle)
        kinds = [event["kind"] for event in events]
        expected = {
            "log", "thought", "status", "metric", "tool_call", "tool_result",
            "progress", "artifact_ref", "x-vendor.acme.thing",
        }
        assert expected <= set(kinds), kinds
        bodies = {event["body"].get("name"): event["body"] for event in events}
        assert bodies["cost.budget.remaining"]["value"] == 5.266, bodies
        await handle.done

        lease = {"cost.budget": ["USD:1"], "tool.call": ["*"]}
        handle = await client.submit(agent="spend", lease_request=lease)
        async with raises(BudgetExhaustedError):
            await handle.done

        handle = await client.submit(agent="chunks")
        result = await handle.done
        assert await handle.collect_chunks() == "grüße ".encode() + b"\x00\x01"
        assert result.result_size == 10 and result.result is None, result

        handle = await client.submit(agent="large")
        result = await handle.done
        assert result.result_id is not None
        assert len(await handle.collect_chunks()) > 2_000_000

        handle = await client.submit(agent="fail")
        async with raises(InternalError, "it broke"):
            await handle.done

        handle = await client.submit(agent="slow", input={"n": 1000}, max_runtime_sec=1)
        assert (await handle.done).final_status == "timed_out"

        handle = await client.submit(agent="refactor")
        assert handle.agent_ref == "refactor@2.0.0" and (await handle.done).result == "v2"
        handle = await client.submit(agent="refactor@1.0.0")
        assert (await handle.done).result == "v1"

    async with connected() as client:
        async with raises(AgentNotAvailableError):
            await client.submit(agent="nobody")
    async with connected() as client:
        async with raises(AgentVersionNotAvailableError):
            await client.submit(agent="refactor@9.9")
    async with raises(UnauthenticatedError):
        async with connected(token="wrong"):
            pass


run(main)
