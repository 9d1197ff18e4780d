"""The real Python client at our daemon: it submits to agents hosted there, and is told no."""

import arcp
from peer import connected, events_of, raises, run


async def main():
    async with connected(token="whatever") as client:
        handle = await client.submit(agent="echo", input={"hi": 1})
        assert [event["body"]["message"] for event in await events_of(handle)] == ["echo started"]
        result = await handle.done
        assert result.result == {"echoed": {"hi": 1}}, result
        worker = await client.submit(agent="worker", input="x")
        assert (await worker.done).result["greeting"] == "hello"
        python = await client.submit(agent="kinds")
        kinds = [event["kind"] for event in await events_of(python)]
        assert kinds[:3] == ["log", "thought", "status"], kinds
        assert (await python.done).final_status == "success"
        async with raises(arcp.PermissionDeniedError, 'denied by policy "no-fail"'):
            await client.submit(agent="fail")
        jobs = await client.list_jobs()
        print("\n".join(job.job_id for job in jobs.jobs))


run(main)
