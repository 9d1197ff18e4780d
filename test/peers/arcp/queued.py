"""The real Python client: a job that waits for its turn is cancelled, and ends."""

import asyncio

from arcp import ListJobsFilter
from peer import connected, run


async def main():
    async with connected() as client:
        handles = [await client.submit(agent="slow", input={"n": 1000}) for _ in range(2)]
        page = await client.list_jobs(filter=ListJobsFilter(status=["pending"]))
        assert [job.job_id for job in page.jobs] == [handles[1].job_id], page
        await client.cancel_job(handles[1].job_id)
        result = await asyncio.wait_for(handles[1].done, 5)
        assert result.final_status == "cancelled"
        await client.cancel_job(handles[0].job_id)
        assert (await handles[0].done).final_status == "cancelled"


run(main)
