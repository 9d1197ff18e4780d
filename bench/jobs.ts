/**
 * What jobs cost the one log: a start with 50,000 of them in it, and how long their file is. Jobs
 * are submitted through the whole runtime, by frames in memory.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "../src/log/sqlite/store.ts";
import type { Store } from "../src/log/store.ts";
import { ArcpRuntime } from "../src/wires/arcp/server/runtime.ts";
import type { Transport, TransportListener } from "../src/wires/arcp/server/transport.ts";
import { staticTokens } from "../src/wires/arcp/server/verifiers.ts";
import { conclude, inTemporaryFolder, isQuick, median, report } from "./measure.ts";

const JOBS = 50_000;
const SESSIONS = 8;
const AT_ONCE = 64;
const STARTS = isQuick ? 3 : 5;

function runtimeOn(store: Store): ArcpRuntime {
  const bearer = staticTokens({ bench: "me@example.com" });
  const runtime = new ArcpRuntime({ runtime: { name: "bench", version: "1.0.0" }, bearer, store });
  return runtime.registerAgent("echo", async (input, job) => {
    await job.log("info", "a line of what the agent does");
    return { echoed: input };
  });
}

/** Submits jobs, so many at once, until all of them were submitted and ended. */
class Submitter implements Transport {
  readonly maxFrameBytes = 1024 * 1024;
  readonly waitingBytes = 0;
  readonly #next: () => boolean;
  readonly #onEnd: () => void;
  #listener: TransportListener | undefined;
  #frames = 0;

  constructor(next: () => boolean, onEnd: () => void) {
    this.#next = next;
    this.#onEnd = onEnd;
  }

  open(listener: TransportListener): void {
    this.#listener = listener;
    const auth = { scheme: "bearer", token: "bench" };
    const capabilities = { encodings: ["json"], features: [] };
    this.#say("session.hello", { client: { name: "bench", version: "1" }, auth, capabilities });
  }

  #say(type: string, payload: object): void {
    this.#frames += 1;
    const frame = JSON.stringify({ arcp: "1.1", id: `m${this.#frames}`, type, payload });
    setImmediate(() => this.#listener?.onFrame(frame));
  }

  #submit(): void {
    if (this.#next()) this.#say("job.submit", { agent: "echo", input: { n: this.#frames } });
  }

  send(frame: string): void {
    if (frame.includes('"type":"session.welcome"')) {
      for (let i = 0; i < AT_ONCE; i += 1) this.#submit();
    } else if (frame.includes('"type":"job.result"')) {
      this.#onEnd();
      this.#submit();
    }
  }

  close(): void {}
}

async function fill(path: string): Promise<void> {
  const store = sqliteStore({ path });
  const runtime = runtimeOn(store);
  await runtime.start();
  let left = JOBS;
  let ended = 0;
  await new Promise<void>((resolve) => {
    const onEnd = () => {
      ended += 1;
      if (ended === JOBS) resolve();
    };
    const next = () => {
      left -= 1;
      return left >= 0;
    };
    for (let i = 0; i < SESSIONS; i += 1) runtime.accept(new Submitter(next, onEnd));
  });
  await runtime.close();
  await store.close();
}

interface Taken {
  readonly wallMs: number;
  /** Of all threads: the same on a machine that is busy with something else. */
  readonly cpuMs: number;
}

async function start(path: string): Promise<Taken> {
  const store = sqliteStore({ path });
  const begunMs = performance.now();
  const before = process.cpuUsage();
  const runtime = runtimeOn(store);
  await runtime.start();
  const { user, system } = process.cpuUsage(before);
  const taken = { wallMs: performance.now() - begunMs, cpuMs: (user + system) / 1000 };
  if (runtime.stats().jobs !== JOBS) throw new Error(`${runtime.stats().jobs} jobs are there`);
  await runtime.close();
  await store.close();
  return taken;
}

await inTemporaryFolder(async (folder) => {
  const path = join(folder, "jobs.db");
  await fill(path);
  const taken: Taken[] = [];
  for (let i = 0; i < STARTS; i += 1) taken.push(await start(path));
  report({
    name: "start with 50,000 jobs in the log",
    value: median(taken.map(({ wallMs }) => wallMs)) / 1000,
    unit: "s",
    target: { atMost: 2 },
  });
  const cpuMs = median(taken.map((each) => each.cpuMs));
  report({ name: "  processor time", value: cpuMs / 1000, unit: "s" });
  report({ name: "disk for one small job", value: statSync(path).size / JOBS, unit: "bytes" });
});
conclude();
