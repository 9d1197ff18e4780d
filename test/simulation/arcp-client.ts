/**
 * An honest ARCP client: it remembers what it saw, sends again what was not answered, and resumes.
 * Now and then it has lost some of what it saw and asks for it again: then it must get the same.
 */
import type { Frame, Play, TestPeer } from "../support/arcp/fixture.ts";
import type { Random } from "./random.ts";

export interface ArcpClientOptions {
  readonly name: string;
  readonly random: Random;
  readonly scene: () => Play | undefined;
  readonly turns: (count: number) => Promise<void>;
  /** Jobs that anybody submitted. */
  readonly jobs: string[];
  readonly fail: (invariant: string, detail: string) => void;
}

const LEASES = [
  {},
  { "agent.delegate": ["*"] },
  { "agent.delegate": ["*"], "cost.budget": ["USD:9"] },
  { "cost.budget": ["USD:2"] },
];

export class ArcpClient {
  readonly #options: ArcpClientOptions;
  /** The frames of its session in order, as they came. */
  readonly #texts: string[] = [];
  readonly own = new Set<string>();
  readonly followed = new Set<string>();
  #peer: TestPeer | undefined;
  #sessionId = "";
  #token = "";
  /** The number of the last frame on this connection. */
  #at = 0;
  #read = 0;
  readonly #submits = new Map<string, string>();
  #sent = 0;

  constructor(options: ArcpClientOptions) {
    this.#options = options;
  }

  get frames(): readonly Frame[] {
    return this.#texts.map((text) => JSON.parse(text) as Frame);
  }

  async connect(): Promise<void> {
    if (this.#peer && !this.#peer.wire.ending) return;
    const { random, turns } = this.#options;
    const scene = this.#options.scene();
    if (!scene) return;
    this.#peer = scene.connect();
    this.#read = 0;
    const isForgetful = random.chance(0.3);
    this.#at = Math.max(0, this.#texts.length - (isForgetful ? random.between(0, 5) : 0));
    const resume = {
      session_id: this.#sessionId,
      resume_token: this.#token,
      last_event_seq: this.#at,
    };
    // It may be lost again before the welcome comes.
    void this.#peer.hello(this.#token === "" ? {} : { resume }).catch(() => undefined);
    await turns(random.between(0, 4));
    this.read();
  }

  read(): void {
    const raw = this.#peer?.wire.raw ?? [];
    for (; this.#read < raw.length; this.#read += 1) this.#take(raw[this.#read] ?? "");
  }

  #take(text: string): void {
    const frame = JSON.parse(text) as Frame;
    const { type, payload } = frame;
    if (type === "session.welcome") {
      this.#sessionId = String(frame.session_id);
      this.#token = String(payload["resume_token"]);
      for (const submit of this.#submits.values()) this.#peer?.sendText(submit);
    } else if (type === "job.accepted" && typeof payload["request_id"] === "string") {
      this.#submits.delete(payload["request_id"]);
      const jobId = String(frame.job_id);
      if (!this.own.has(jobId)) this.#options.jobs.push(jobId);
      this.own.add(jobId);
    } else if (payload["code"] === "RESUME_WINDOW_EXPIRED") {
      this.#fail("a session can be resumed", `at ${this.#at}`);
    }
    // A frame without a number is an answer, for example to a cancel that came too late.
    if (frame.event_seq !== undefined) this.#number(frame.event_seq, text);
  }

  #number(seq: number, text: string): void {
    if (seq !== this.#at + 1) {
      return this.#fail("no gap and no repeat in a session", `${seq} after ${this.#at}`);
    }
    const before = this.#texts[this.#at];
    this.#at = seq;
    if (before === undefined) this.#texts.push(text);
    else if (before !== text) this.#fail("the same bytes after a resume", `${before} / ${text}`);
  }

  #fail(invariant: string, detail: string): void {
    this.#options.fail(invariant, `${this.#options.name}: ${detail}`);
  }

  get #isLive(): boolean {
    const peer = this.#peer;
    return peer !== undefined && !peer.wire.ending && peer.sessionId !== undefined;
  }

  submit(): void {
    if (!this.#isLive) return;
    const { random, name } = this.#options;
    this.#sent += 1;
    const id = `${name}-${this.#sent}`;
    const payload = {
      agent: random.pick(["mortal", "phoenix"]),
      lease_request: random.pick(LEASES),
      ...(random.chance(0.2) && { max_runtime_sec: random.between(1, 9) }),
    };
    const text = JSON.stringify({ arcp: "1.1", id, type: "job.submit", payload });
    this.#submits.set(id, text);
    this.#peer?.sendText(text);
  }

  /** A frame that comes twice. */
  repeat(): void {
    const [text] = this.#submits.values();
    if (text !== undefined) this.#peer?.sendText(text);
  }

  subscribe(): void {
    const { jobs, random } = this.#options;
    const jobId = jobs.length > 0 ? random.pick(jobs) : undefined;
    if (!this.#isLive || jobId === undefined) return;
    if (this.own.has(jobId) || this.followed.has(jobId)) return;
    this.followed.add(jobId);
    this.#peer?.send("job.subscribe", { job_id: jobId, history: true });
  }

  cancel(): void {
    const ids = [...this.own];
    if (!this.#isLive || ids.length === 0) return;
    this.#peer?.send("job.cancel", {}, { job_id: this.#options.random.pick(ids) });
  }

  ack(): void {
    if (this.#isLive) this.#peer?.send("session.ack", { last_processed_seq: this.#at });
  }

  lose(): void {
    this.read();
    this.#peer?.lose();
  }
}
