import { expect, test } from "vitest";
import { appendToLog } from "./append.ts";
import type { Connection } from "./driver.ts";
import { BUSY } from "./failure.ts";
import { Heads } from "./heads.ts";
import { NatsSession } from "./session.ts";
import { parseNatsUrl } from "./url.ts";

/** Of a leader that still holds the last append when the next one comes, so many times. */
class BusySession extends NatsSession {
  sent = 0;
  readonly #times: number;

  constructor(times: number) {
    super({
      url: parseNatsUrl("nats://127.0.0.1/busy"),
      durability: "strict",
      monitors: [],
      replicas: 3,
      writtenBy: "test",
      onWarning: () => undefined,
    });
    this.#times = times;
  }

  override once<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const request = async () => {
      this.sent += 1;
      const error = { err_code: BUSY, description: "wrong last sequence" };
      const answer = this.sent > this.#times ? { seq: 8 } : { error };
      return { data: Buffer.from(JSON.stringify(answer)) };
    };
    return work({ request } as unknown as Connection);
  }
}

// The server acknowledges an append a moment before it forgets that it is under way.
test("an append that finds the last one in the leader's hands waits milliseconds", async () => {
  const session = new BusySession(3);
  session.moveTo({ head: 0, mark: 7, lastId: "" });
  const call = { batch: { entries: ["a"] }, at: { head: 0, mark: 7 }, options: { id: "one" } };
  const startedMs = performance.now();
  expect(await appendToLog(session, new Heads(session), call)).toEqual({ head: 1, mark: 8 });
  expect(session.sent).toBe(4);
  // 1, 2 and 4 ms; the pauses of a server that is away would take 140.
  expect(performance.now() - startedMs).toBeLessThan(100);
});

test("one that finds it there all the time can be tried again", async () => {
  const session = new BusySession(Infinity);
  session.moveTo({ head: 0, mark: 7, lastId: "" });
  const options = { id: "one", withinMs: 200 };
  const call = { batch: { entries: ["a"] }, at: { head: 0, mark: 7 }, options };
  const refusal: unknown = await appendToLog(session, new Heads(session), call).catch(
    (error: unknown) => error,
  );
  expect(refusal).toMatchObject({ code: "UNAVAILABLE" });
  expect(String(refusal)).toContain("is still busy with another write");
});
