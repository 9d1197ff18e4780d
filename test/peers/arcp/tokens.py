"""The real Python client at our daemon with tokens: one that may submit, and some that may not."""

import os

import arcp
from peer import connected, raises, run


async def main():
    async with connected(token=os.environ["AGENT"]) as client:
        handle = await client.submit(agent="echo", input={"hi": 1})
        assert (await handle.done).result == {"echoed": {"hi": 1}}
        print(handle.job_id)
    for name, kind, text in [
        ("WRONG", arcp.UnauthenticatedError, "the token is not known"),
        ("EXPIRED", arcp.UnauthenticatedError, "the token expired is expired"),
        ("REVOKED", arcp.UnauthenticatedError, "the token revoked is revoked"),
        ("VIEWER", arcp.PermissionDeniedError, "token:viewer (viewer) may not job.submit"),
    ]:
        async with raises(kind, text):
            async with connected(token=os.environ[name]):
                pass


run(main)
