"""Writes the file of `arcp serve --db` with the SDK's own event log: one session, two frames."""

import asyncio
import sys

from arcp._store.eventlog import SqliteEventLog


async def main() -> None:
    log = SqliteEventLog(sys.argv[1])
    for seq in (1, 2):
        body = {"level": "info", "message": f"line {seq}"}
        payload = {"kind": "log", "ts": "2026-05-04T12:00:00Z", "body": body}
        await log.append(
            "sess_01KZ4TA0000000000000000003",
            {
                "arcp": "1.1",
                "id": f"01KZ4TA000000000000000000{seq}",
                "type": "job.event",
                "session_id": "sess_01KZ4TA0000000000000000003",
                "job_id": "job_01KZ4TA000000000000000000C",
                "event_seq": seq,
                "payload": payload,
            },
        )
    await log.close()


asyncio.run(main())
