"""The real Python client: lists and pages, cancel, subscribe, idempotency, traces."""

import asyncio

from arcp import DuplicateKeyError, JobNotFoundError, ListJobsFilter
from peer import connected, events_of, messages, raises, run


async def main():
    async with connected() as client:
        # "cancel running and queued"
        running = await client.submit(agent="one-at-a-time", input={"n": 1000})
        async for _ in running.events():
            break
        await client.cancel_job(running.job_id)
        assert (await running.done).final_status == "cancelled"

        done = []
        for i in range(5):
            handle = await client.submit(agent="echo", input=i)
            await handle.done
            done.append(handle.job_id)
        page = await client.list_jobs(filter=ListJobsFilter(agent="echo"), limit=2)
        listed = [job.job_id for job in page.jobs]
        assert len(listed) == 2 and page.next_cursor
        while page.next_cursor:
            page = await client.list_jobs(
                filter=ListJobsFilter(agent="echo"), limit=2, cursor=page.next_cursor
            )
            listed += [job.job_id for job in page.jobs]
        assert sorted(listed) == sorted(done), (listed, done)

        trace_id = "0af7651916cd43dd8448eb211c80319c"
        handle = await client.submit(agent="echo", input=1, trace_id=trace_id)
        assert handle.trace_id == trace_id
        await handle.done

        first = await client.submit(agent="echo", input=1, idempotency_key="k")
        await first.done
        second = await client.submit(agent="echo", input=1, idempotency_key="k")
        assert second.job_id == first.job_id
        assert (await second.done).result == {"echoed": 1}

    async with connected() as client:
        async with raises(DuplicateKeyError):
            await client.submit(agent="echo", input=2, idempotency_key="k")

    # "subscribe to a running and a finished job with history"
    async with connected() as owner, connected() as watcher:
        handle = await owner.submit(agent="slow", input={"n": 8, "d": 0.05})
        own = asyncio.create_task(events_of(handle))
        await asyncio.sleep(0.15)
        followed = await watcher.subscribe(handle.job_id, history=True)
        ticks = [f"tick-{i}" for i in range(8)]
        assert messages(await events_of(followed.handle)) == ticks
        assert (await followed.handle.done).result == "finished"
        assert messages(await own) == ticks
        late = await watcher.subscribe(handle.job_id, history=True)
        assert messages(await events_of(late.handle)) == ticks
        assert (await late.handle.done).result == "finished"
        await watcher.unsubscribe(handle.job_id)

    async with connected() as client:
        async with raises(JobNotFoundError):
            await client.subscribe("job_01KZ4TA000000000000000000C")


run(main)
