/**
 * A day of a session, as it goes over the wire. Read it like a play: `>` is the client, `<` the
 * runtime, `--` is what happens to the wire. Ids are numbered in the order in which they appear.
 */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { JobContext } from "../../../jobs/context.ts";
import { pairMemoryTransports } from "../transports/memory.ts";
import { play, type Frame } from "../../../../test/support/arcp/fixture.ts";
import type { Transport } from "./transport.ts";

class Script {
  readonly lines: string[] = [];
  readonly #names = new Map<string, string>();

  /** Random ids, by kind and number. */
  plain(text: string): string {
    return text
      .replaceAll(/\b(msg|sess|job|res|rt)_[0-9A-Za-z]{20,}/g, (id, kind: string) => {
        const known = this.#names.get(id);
        if (known !== undefined) return known;
        const count = [...this.#names.values()].filter((name) =>
          name.startsWith(`${kind}-`),
        ).length;
        const name = `${kind}-${count + 1}`;
        this.#names.set(id, name);
        return name;
      })
      .replaceAll(/"arcp":"1.1","id":"[^"]*",/g, "");
  }

  say(text: string): void {
    this.lines.push(this.plain(text));
  }

  toString(): string {
    return this.lines.join("\n");
  }
}

class Actor {
  readonly #script: Script;
  readonly #transport: Transport;
  #frames = 0;
  /** The fields that a resume needs. */
  heard: object = {};

  constructor(script: Script, transport: Transport) {
    this.#script = script;
    this.#transport = transport;
    transport.open({
      onFrame: (frame) => {
        script.say(`< ${frame}`);
        const { session_id, payload } = JSON.parse(frame) as Frame;
        const { resume_token } = payload;
        if (typeof resume_token === "string") this.heard = { session_id, resume_token };
      },
      onDrained: () => undefined,
      onClosed: ({ code, reason }) => script.say(`-- closed ${code} ${reason}`.trimEnd()),
    });
  }

  async says(type: string, payload: object, more: object = {}): Promise<void> {
    this.#frames += 1;
    const frame = JSON.stringify({ arcp: "1.1", id: `c${this.#frames}`, type, ...more, payload });
    this.#script.say(`> ${frame}`);
    this.#transport.send(frame);
    await quiet();
  }

  leave(): void {
    this.#script.say("-- the client is gone");
    this.#transport.close();
  }
}

const auth = { scheme: "bearer", token: "alice-token" };
const client = { name: "play", version: "1" };

test("a job goes on while its client is away, and is cancelled when it is back", async () => {
  let worker: JobContext | undefined;
  const { runtime, clock } = await play({
    agents: (made) =>
      made.registerAgent("digger", (_, job) => {
        worker = job;
        return new Promise(() => undefined);
      }),
    limits: { cancelGraceMs: 2_000 },
  });
  const script = new Script();
  const connect = () => {
    const [theirs, ours] = pairMemoryTransports();
    runtime.accept(ours);
    return new Actor(script, theirs);
  };
  const features = ["heartbeat", "cost.budget", "progress"];
  const first = connect();
  await first.says("session.hello", { client, auth, capabilities: { features } });
  const lease_request = { "cost.budget": ["USD:1"] };
  const trace_id = "5b8efff798038103d269b633813fc60c";
  await first.says("job.submit", { agent: "digger", lease_request }, { trace_id });
  await worker?.progress(1, { total: 3, units: "m" });
  await worker?.metric("cost.fuel", 0.25, { unit: "USD" });
  await quiet();
  first.leave();
  await quiet();
  await worker?.progress(2, { total: 3, units: "m" });
  await clock.advance(10_000);
  const second = connect();
  const resume = { ...first.heard, last_event_seq: 2 };
  await second.says("session.hello", { client, auth, capabilities: { features }, resume });
  await clock.advance(30_000);
  await second.says("session.pong", { ping_nonce: "n", received_at: "now" });
  await second.says("job.cancel", { reason: "rain" }, { job_id: worker?.jobId });
  await clock.advance(2_000);
  await second.says("session.close", { reason: "evening" });
  const told = script.toString().replaceAll(/"nonce":"[^"]*"/g, '"nonce":"…"');
  await expect(told).toMatchFileSnapshot("transcripts/away.txt");
});
