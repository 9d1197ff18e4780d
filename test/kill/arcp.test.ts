/**
 * Jobs that survive, on the real thing: a runtime over SQLite and WebSockets is killed five times
 * while two hundred jobs stream to twenty clients. Every client ends with every event of its
 * session exactly once, and with one end for each of its jobs.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { WebSocket } from "ws";

const KILLS = 5;
const CLIENTS = 20;
const JOBS = 10;
/** So many that jobs are still under way at the last kill, however fast the machine. */
const NUMBERS = 800;

const folder = mkdtempSync(join(tmpdir(), "rollcall-arcp-kill-"));
const path = join(folder, "arcp.db");
let victim: ChildProcess | undefined;

afterAll(() => {
  victim?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function start(port: string): Promise<string> {
  const program = new URL("arcp-runtime.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, path, port], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  victim = child;
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("the runtime did not start");
}

interface Frame {
  readonly type: string;
  readonly job_id?: string;
  readonly session_id?: string;
  readonly event_seq?: number;
  readonly payload: {
    readonly [field: string]: unknown;
    readonly body: { readonly phase?: string; readonly message?: string };
  };
}

/** A client that resumes until all its jobs have ended, and trusts nobody. */
class Client {
  readonly faults: string[] = [];
  readonly #url: string;
  readonly #name: number;
  readonly #submits = new Map<string, string>();
  readonly #next = new Map<string, number>();
  readonly #ended = new Set<string>();
  #resume: object | undefined;
  #sessionId = "";
  #token = "";
  #last = 0;
  resumes = 0;

  constructor(url: string, name: number) {
    this.#url = url;
    this.#name = name;
    for (let i = 0; i < JOBS; i += 1) {
      const id = `client-${name}-${i}`;
      const payload = { agent: i % 2 === 0 ? "mortal" : "phoenix", input: NUMBERS };
      this.#submits.set(id, JSON.stringify({ arcp: "1.1", id, type: "job.submit", payload }));
    }
  }

  get isDone(): boolean {
    return this.faults.length > 0 || (this.#submits.size === 0 && this.#ended.size === JOBS);
  }

  get last(): number {
    return this.#last;
  }

  async run(): Promise<void> {
    while (!this.isDone) await this.#connect();
  }

  #connect(): Promise<void> {
    return new Promise((resolve) => {
      const socket = new WebSocket(this.#url);
      // Nobody is there for a while after each kill.
      socket.on("error", () => undefined);
      // tidy-allow sleep: a client that tries again at once takes the core from who starts
      socket.on("close", () => setTimeout(resolve, 20));
      socket.on("open", () => socket.send(this.#hello()));
      socket.on("message", (data: Buffer) => {
        this.#take(JSON.parse(data.toString()) as Frame, socket);
        if (this.isDone) socket.close();
      });
    });
  }

  #hello(): string {
    const payload = {
      client: { name: "test", version: "1" },
      auth: { scheme: "bearer", token: "token" },
      capabilities: { features: ["ack"] },
      ...(this.#resume && { resume: { ...this.#resume, last_event_seq: this.#last } }),
    };
    return JSON.stringify({
      arcp: "1.1",
      id: `hello-${this.#name}`,
      type: "session.hello",
      payload,
    });
  }

  #take(frame: Frame, socket: WebSocket): void {
    const { type, payload, event_seq: seq } = frame;
    if (type === "session.welcome") {
      if (this.#resume) this.resumes += 1;
      this.#sessionId = String(frame.session_id);
      this.#token = String(payload["resume_token"]);
      this.#resume = { session_id: this.#sessionId, resume_token: this.#token };
      for (const submit of this.#submits.values()) socket.send(submit);
    } else if (type === "session.error") this.faults.push(`refused: ${JSON.stringify(payload)}`);
    else if (type === "job.accepted") this.#submits.delete(String(payload["request_id"]));
    else if (seq !== undefined) {
      if (seq !== this.#last + 1) this.faults.push(`${seq} after ${this.#last}`);
      this.#last = seq;
      this.#takeNumbered(frame);
      if (seq % 500 === 0) {
        const ack = { id: `ack-${seq}`, type: "session.ack", payload: { last_processed_seq: seq } };
        socket.send(JSON.stringify({ arcp: "1.1", ...ack }));
      }
    }
  }

  #takeNumbered({ type, job_id = "", payload }: Frame): void {
    if (this.#ended.has(job_id)) this.faults.push(`${type} after the end of ${job_id}`);
    if (type !== "job.event") {
      this.#ended.add(job_id);
      const next = this.#next.get(job_id) ?? 0;
      const isWhole = payload["result"] === NUMBERS && next === NUMBERS;
      const isCut = payload["code"] === "INTERNAL_ERROR" && payload["retryable"] === true;
      if (!isWhole && !isCut) this.faults.push(`${job_id} ended at ${next}`);
      return;
    }
    const { phase, message } = payload.body;
    if (phase === "back_pressure") return;
    if (phase === "restarted") this.#next.set(job_id, 0);
    else {
      const next = this.#next.get(job_id) ?? 0;
      if (message !== String(next)) this.faults.push(`${job_id} says ${message}, not ${next}`);
      this.#next.set(job_id, next + 1);
    }
  }
}

test(
  "every client ends with every event exactly once and one end for each job",
  { timeout: 180_000 },
  async () => {
    const url = await start("0");
    const { port } = new URL(url);
    const clients = Array.from({ length: CLIENTS }, (_, name) => new Client(url, name));
    const running = clients.map((client) => client.run());
    const seen = () => clients.reduce((sum, { last }) => sum + last, 0);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const before = seen();
      await expect
        .poll(() => seen() > before + 2_000 || clients.every(({ isDone }) => isDone), {
          timeout: 30_000,
        })
        .toBe(true);
      victim?.kill("SIGKILL");
      await start(port);
    }
    await Promise.all(running);
    expect(clients.flatMap(({ faults }) => faults)).toEqual([]);
    expect(clients.some(({ resumes }) => resumes >= KILLS - 1)).toBe(true);
  },
);
