"""The real Python client: a session is resumed in the middle of a job, and no event is lost."""

import asyncio

from arcp import ClientInfo, SessionResume, WebSocketTransport
from arcp.client import ARCPClient
from peer import URL, run


def new_client():
    return ARCPClient(client=ClientInfo(name="peer", version="1.0.0"), token="tok")


async def main():
    first = new_client()
    transport = await WebSocketTransport.connect(URL)
    welcome = await first.connect(transport)
    handle = await first.submit(agent="slow", input={"n": 20, "d": 0.05})
    seen = []
    async for event in handle.events():
        seen.append(event["body"]["message"])
        if len(seen) == 4:
            break
    last = first.latest_event_seq
    await transport.close()
    await asyncio.sleep(0.3)

    second = new_client()
    frames = []
    transport = await WebSocketTransport.connect(URL)
    receive = transport.recv

    async def recv():
        frame = await receive()
        frames.append(frame)
        return frame

    transport.recv = recv
    resume = SessionResume(
        session_id=welcome.session_id, resume_token=welcome.resume_token, last_event_seq=last
    )
    again = await second.resume(transport, resume=resume)
    assert again.session_id == welcome.session_id
    assert again.resume_token != welcome.resume_token
    while not any(frame["type"] == "job.result" for frame in frames):
        await asyncio.sleep(0.02)
    stream = [frame for frame in frames if "event_seq" in frame]
    assert [frame["event_seq"] for frame in stream] == list(range(last + 1, 22)), stream
    said = [f["payload"]["body"]["message"] for f in stream if f["type"] == "job.event"]
    assert said == [f"tick-{i}" for i in range(last, 20)], said
    await second.close()


run(main)
