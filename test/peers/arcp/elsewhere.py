"""The real Python client: the leader of its cluster is killed in the middle of a job that may begin
again, and it resumes its session at another member: elsewhere.py URL OTHER."""

import asyncio
import sys

from arcp import ClientInfo, SessionResume, TransportClosed, WebSocketTransport
from arcp.client import ARCPClient
from peer import URL, run

OTHER = sys.argv[2]


def new_client():
    return ARCPClient(client=ClientInfo(name="peer", version="1.0.0"), token="tok")


async def resumed(resume):
    """A client of the session and its frames from there on; a member says 1013 until one leads."""
    while True:
        frames = []
        transport = await WebSocketTransport.connect(OTHER)
        receive = transport.recv

        async def recv():
            frame = await receive()
            frames.append(frame)
            return frame

        transport.recv = recv
        client = new_client()
        try:
            welcome = await client.resume(transport, resume=resume)
        except TransportClosed:
            await asyncio.sleep(0.1)
            continue
        assert welcome.session_id == resume.session_id
        return client, frames


async def main():
    first = new_client()
    welcome = await first.connect(await WebSocketTransport.connect(URL))
    handle = await first.submit(agent="steady", input={"ms": 4000})
    async for event in handle.events():
        if event["kind"] == "log":
            break
    print(f"begun {handle.job_id}", flush=True)
    try:
        raise AssertionError(f"it ended before: {await handle.done}")
    except TransportClosed:
        last = first.latest_event_seq
    resume = SessionResume(
        session_id=welcome.session_id, resume_token=welcome.resume_token, last_event_seq=last
    )
    second, frames = await resumed(resume)
    while not any(frame["type"] in ("job.result", "job.error") for frame in frames):
        await asyncio.sleep(0.02)
    stream = [frame for frame in frames if "event_seq" in frame]
    numbers = [frame["event_seq"] for frame in stream]
    assert numbers == list(range(last + 1, last + 1 + len(numbers))), numbers
    kinds = [frame["type"] for frame in stream]
    assert kinds[-1] == "job.result" and kinds.count("job.result") == 1, stream
    await second.close()
    print("resumed", flush=True)


run(main)
