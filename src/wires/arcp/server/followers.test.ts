/** Many sessions follow one job: each is a cursor on its stream, and nobody gets a copy. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { sqliteStore } from "../../../log/sqlite/store.ts";
import { ArcpRuntime } from "./runtime.ts";
import type { Transport, TransportEnding, TransportListener } from "./transport.ts";
import { staticTokens } from "./verifiers.ts";

const FOLLOWERS = 200;
const EVENTS = 20;
const TEXT = "x".repeat(60_000);
/** About 500 kB each. */
const BODY = { parts: Array.from({ length: 8 }, () => TEXT) };

/** A client that reads everything and keeps what is not an event. */
class Client implements Transport {
  readonly maxFrameBytes = 1024 * 1024;
  readonly waitingBytes = 0;
  readonly others: { readonly type: string; readonly job_id?: string }[] = [];
  readonly seqs: number[] = [];
  ending: TransportEnding | undefined;
  #listener: TransportListener | undefined;
  #sent = 0;

  open(listener: TransportListener): void {
    this.#listener = listener;
    const client = { name: "t", version: "1" };
    const capabilities = { encodings: ["json"], features: ["subscribe"] };
    this.say("session.hello", { client, auth: { scheme: "bearer", token: "t" }, capabilities });
  }

  say(type: string, payload: object): void {
    this.#sent += 1;
    this.#listener?.onFrame(JSON.stringify({ arcp: "1.1", id: `m${this.#sent}`, type, payload }));
  }

  send(frame: string): void {
    const seq = /"event_seq":(\d+)/.exec(frame.slice(0, 300))?.[1];
    if (seq !== undefined) this.seqs.push(Number(seq));
    if (!frame.includes('"type":"job.event"'))
      this.others.push(JSON.parse(frame) as Client["others"][number]);
  }

  close(ending: TransportEnding = { code: 1000, reason: "" }): void {
    this.ending ??= ending;
  }

  has(type: string): boolean {
    return this.others.some((frame) => frame.type === type);
  }
}

test(
  "200 followers of a job that says much cost it nothing, and the disk little more than its events",
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "rollcall-followers-"));
    const store = sqliteStore({ path: join(folder, "arcp.db") });
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const runtime = new ArcpRuntime({
      runtime: { name: "test", version: "1" },
      bearer: staticTokens({ t: "alice" }),
      store,
    });
    let go: () => void = () => undefined;
    const isFollowed = new Promise<void>((resolve) => (go = resolve));
    runtime.registerAgent("talker", async (_, job) => {
      await isFollowed;
      for (let i = 0; i < EVENTS; i += 1) await job.emit("x-vendor.test.blob", BODY);
    });
    runtime.registerAgent("bystander", async (_, job) => {
      await isFollowed;
      for (let i = 0; i < 100; i += 1) await job.log("info", String(i));
    });
    await runtime.start();
    const connect = () => {
      const client = new Client();
      runtime.accept(client);
      return client;
    };
    const owner = connect();
    const other = connect();
    const followers = Array.from({ length: FOLLOWERS }, connect);
    const all = [owner, other, ...followers];
    await vi.waitFor(() => expect(all.every((each) => each.has("session.welcome"))).toBe(true));
    owner.say("job.submit", { agent: "talker" });
    other.say("job.submit", { agent: "bystander" });
    await vi.waitFor(() => expect(owner.has("job.accepted")).toBe(true));
    const jobId = owner.others.at(-1)?.job_id;
    for (const each of followers) each.say("job.subscribe", { job_id: jobId });
    await vi.waitFor(() =>
      expect(followers.every((each) => each.has("job.subscribed"))).toBe(true),
    );
    const before = process.memoryUsage.rss();
    go();
    await vi.waitFor(() => expect(all.every((each) => each.has("job.result"))).toBe(true), {
      timeout: 50_000,
    });
    const grown = process.memoryUsage.rss() - before;
    for (const { seqs } of [owner, ...followers]) {
      expect(seqs).toEqual(Array.from({ length: EVENTS + 1 }, (_, i) => i + 1));
    }
    expect(all.map(({ ending }) => ending)).toEqual(all.map(() => undefined));
    await runtime.close();
    await store.close();
    const bytes = readdirSync(folder).reduce(
      (sum, name) => sum + statSync(join(folder, name)).size,
      0,
    );
    const events = EVENTS * JSON.stringify(BODY).length;
    expect(bytes / events).toBeLessThan(1.2);
    expect(grown).toBeLessThan(512 * 1024 * 1024);
  },
);
