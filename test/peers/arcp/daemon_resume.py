"""The real Python client: its daemon is killed in the middle of a job, and it goes on."""

import asyncio
from urllib.parse import urlsplit

from arcp import ClientInfo, SessionResume, WebSocketTransport
from arcp.client import ARCPClient
from peer import URL, run


def new_client():
    return ARCPClient(client=ClientInfo(name="peer", version="1.0.0"), token="tok")


async def answers():
    where = urlsplit(URL)
    try:
        _, writer = await asyncio.open_connection(where.hostname, where.port)
    except OSError:
        return False
    writer.close()
    return True


async def until(is_up):
    while await answers() != is_up:
        await asyncio.sleep(0.05)


async def main():
    first = new_client()
    transport = await WebSocketTransport.connect(URL)
    welcome = await first.connect(transport)
    handle = await first.submit(agent="steps@1.0.0", input={"steps": 1_000_000})
    seen = 0
    async for _ in handle.events():
        seen += 1
        if seen == 15:
            break
    last = first.latest_event_seq
    print(f"kill me while {handle.job_id} runs", flush=True)
    await until(False)
    await until(True)

    frames = []
    transport = await WebSocketTransport.connect(URL)
    receive = transport.recv

    async def recv():
        frame = await receive()
        frames.append(frame)
        return frame

    transport.recv = recv
    second = new_client()
    resume = SessionResume(
        session_id=welcome.session_id, resume_token=welcome.resume_token, last_event_seq=last
    )
    again = await second.resume(transport, resume=resume)
    assert again.session_id == welcome.session_id
    while not any(frame["type"] == "job.error" for frame in frames):
        await asyncio.sleep(0.02)
    stream = [frame for frame in frames if "event_seq" in frame]
    numbers = [frame["event_seq"] for frame in stream]
    assert numbers == list(range(last + 1, last + 1 + len(numbers))), numbers
    terminal = stream[-1]["payload"]
    assert (terminal["code"], terminal["retryable"]) == ("INTERNAL_ERROR", True), terminal
    told = [f["payload"]["body"]["current"] for f in stream if f["type"] == "job.event"]
    assert told == list(range(last + 1, last + 1 + len(told))), told
    await second.close()
    print("resumed", flush=True)


run(main)
