/**
 * Clients, agents and the process that serves them, played from a seed: connections are lost at any
 * moment, frames come twice, the process is killed with or without what it was writing, and starts
 * again. Whatever happens, every client ends with every event of its session exactly once, each
 * job's own events in order and without a gap, and one end for each job.
 */
import { expect, test } from "vitest";
import { quiet, TestClock } from "../support/engine/fixture.ts";
import type { JobContext } from "../../src/jobs/context.ts";
import { MemoryMedium, memoryStore } from "../../src/log/memory/store.ts";
import type { ArcpRuntime } from "../../src/wires/arcp/server/runtime.ts";
import { MortalStore, play, type Frame, type TestPeer } from "../support/arcp/fixture.ts";
import { Random } from "./random.ts";

/** A whole number from 0, below `end`. */
function below(random: Random, end: number): number {
  return random.between(0, end - 1);
}

const CLIENTS = 4;
const MOVES = 250;

interface Puppet {
  readonly job: JobContext;
  readonly end: (value: string) => void;
  said: number;
  readonly life: number;
}

class World {
  readonly random: Random;
  readonly medium = new MemoryMedium();
  readonly clock = new TestClock();
  readonly clients: Client[] = [];
  readonly jobs: string[] = [];
  readonly happened: string[] = [];
  puppets: Puppet[] = [];
  lives = 0;
  scene: Awaited<ReturnType<typeof play>> | undefined;
  store: MortalStore | undefined;

  constructor(seed: number) {
    this.random = new Random(seed);
    for (let i = 0; i < CLIENTS; i += 1) this.clients.push(new Client(this, i));
  }

  async start(): Promise<void> {
    this.lives += 1;
    const life = this.lives;
    this.puppets = [];
    const puppet = (_: unknown, job: JobContext) =>
      new Promise<string>((end) => this.puppets.push({ job, end, said: 0, life }));
    const agents = (runtime: ArcpRuntime) => {
      runtime.registerAgent("mortal", puppet);
      runtime.registerAgent("phoenix", puppet, { restart: "always" });
    };
    const { medium, clock } = this;
    const store = new MortalStore(memoryStore({ medium, shared: false }));
    this.store = store;
    const limits = { runningPerPrincipal: 6, cancelGraceMs: 1_000 };
    this.scene = await play({ agents, medium, clock, store, limits });
  }

  /** The process dies; what it was writing is lost, or not. */
  async kill(): Promise<void> {
    if (below(this.random, 2) === 0) this.store?.hold();
    await this.turns(below(this.random, 4));
    this.store?.kill();
    for (const client of this.clients) client.peer?.lose();
    await this.start();
  }

  async turns(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async move(): Promise<void> {
    const client = this.clients[below(this.random, CLIENTS)];
    if (!client) return;
    const moves: readonly [number, string, () => void | Promise<void>][] = [
      [20, "say", () => this.say()],
      [6, "submit", () => client.submit()],
      [5, "end", () => this.endOne()],
      [4, "subscribe", () => client.subscribe()],
      [2, "cancel", () => client.cancel()],
      [3, "repeat", () => client.repeat()],
      [3, "ack", () => client.ack()],
      [4, "lose", () => client.lose()],
      [8, "connect", () => client.connect()],
      [2, "kill", () => this.kill()],
      [2, "advance", () => this.clock.advance(below(this.random, 2_000))],
      [12, "turns", () => this.turns(below(this.random, 6))],
    ];
    let at = below(
      this.random,
      moves.reduce((sum, [weight]) => sum + weight, 0),
    );
    for (const [weight, name, make] of moves) {
      at -= weight;
      if (at >= 0) continue;
      this.happened.push(name);
      await make();
      break;
    }
    for (const each of this.clients) each.read();
  }

  say(): void {
    const puppet = this.puppets[below(this.random, Math.max(1, this.puppets.length))];
    if (!puppet || puppet.life !== this.lives) return;
    for (let i = 0; i <= below(this.random, 3); i += 1) {
      void puppet.job.log("info", String(puppet.said));
      puppet.said += 1;
    }
  }

  endOne(): void {
    const [puppet] = this.puppets.splice(below(this.random, Math.max(1, this.puppets.length)), 1);
    puppet?.end("done");
  }

  /** Everything comes to rest: all are connected, and all jobs end. */
  async settle(): Promise<void> {
    for (let round = 0; round < 40; round += 1) {
      await quiet();
      for (const client of this.clients) {
        client.read();
        await client.connect();
      }
      for (const { end } of this.puppets.splice(0)) end("done");
      await this.clock.advance(1_500);
    }
    for (const client of this.clients) client.read();
  }
}

/** An honest client: it remembers what it saw, sends again what was not answered, and resumes. */
class Client {
  readonly frames: Frame[] = [];
  readonly own = new Set<string>();
  readonly subscribed = new Set<string>();
  peer: TestPeer | undefined;
  #sessionId = "";
  #token = "";
  #last = 0;
  #read = 0;
  readonly #submits = new Map<string, string>();
  #sent = 0;
  readonly #world: World;
  readonly #name: number;

  constructor(world: World, name: number) {
    this.#world = world;
    this.#name = name;
  }

  async connect(): Promise<void> {
    if (this.peer && !this.peer.wire.ending) return;
    const scene = this.#world.scene;
    if (!scene) return;
    this.peer = scene.connect();
    this.#read = 0;
    const resume = {
      session_id: this.#sessionId,
      resume_token: this.#token,
      last_event_seq: this.#last,
    };
    // It may be lost again before the welcome comes.
    void this.peer.hello(this.#token === "" ? {} : { resume }).catch(() => undefined);
    await this.#world.turns(below(this.#world.random, 5));
    this.read();
  }

  read(): void {
    const raw = this.peer?.wire.raw ?? [];
    for (; this.#read < raw.length; this.#read += 1) {
      this.#take(JSON.parse(raw[this.#read] ?? "") as Frame);
    }
  }

  #take(frame: Frame): void {
    const { type, payload } = frame;
    if (type === "session.welcome") {
      this.#sessionId = String(frame.session_id);
      this.#token = String(payload["resume_token"]);
      for (const text of this.#submits.values()) this.peer?.sendText(text);
      return;
    }
    if (type === "job.accepted" && typeof payload["request_id"] === "string") {
      this.#submits.delete(payload["request_id"]);
      if (!this.own.has(String(frame.job_id))) this.#world.jobs.push(String(frame.job_id));
      this.own.add(String(frame.job_id));
      return;
    }
    if (type === "session.error") {
      // A subscription or a cancel that came too late; never a session that was lost.
      if (payload["code"] === "RESUME_WINDOW_EXPIRED") {
        throw new Error(`client ${this.#name} lost its session at ${this.#last}`);
      }
      return;
    }
    if (frame.event_seq === undefined) return;
    if (frame.event_seq !== this.#last + 1) {
      throw new Error(`client ${this.#name} got ${frame.event_seq} after ${this.#last}`);
    }
    this.#last = frame.event_seq;
    this.frames.push(frame);
  }

  get #isLive(): boolean {
    return this.peer !== undefined && !this.peer.wire.ending && this.peer.sessionId !== undefined;
  }

  submit(): void {
    if (!this.#isLive) return;
    this.#sent += 1;
    const id = `c${this.#name}-${this.#sent}`;
    const agent = below(this.#world.random, 2) === 0 ? "mortal" : "phoenix";
    const text = JSON.stringify({ arcp: "1.1", id, type: "job.submit", payload: { agent } });
    this.#submits.set(id, text);
    this.peer?.sendText(text);
  }

  /** A frame that comes twice. */
  repeat(): void {
    const [text] = this.#submits.values();
    if (text !== undefined) this.peer?.sendText(text);
  }

  subscribe(): void {
    const { jobs, random } = this.#world;
    const jobId = jobs[below(random, Math.max(1, jobs.length))];
    if (!this.#isLive || jobId === undefined || this.own.has(jobId)) return;
    if (this.subscribed.has(jobId)) return;
    this.subscribed.add(jobId);
    this.peer?.send("job.subscribe", { job_id: jobId, history: true });
  }

  cancel(): void {
    const jobs = [...this.own];
    const job_id = jobs[below(this.#world.random, Math.max(1, jobs.length))];
    if (this.#isLive && job_id) this.peer?.send("job.cancel", {}, { job_id });
  }

  ack(): void {
    if (this.#isLive) this.peer?.send("session.ack", { last_processed_seq: this.#last });
  }

  lose(): void {
    this.read();
    this.peer?.lose();
  }
}

/** What is wrong with what one client was told of one job; nothing when all is well. */
function faultOf(frames: readonly Frame[]): string | undefined {
  let next = 0;
  let ends = 0;
  for (const { type, payload } of frames) {
    if (ends > 0) return "something follows the end";
    if (type !== "job.event") ends += 1;
    else if (payload["kind"] === "status") next = 0;
    else if (payload.body.message !== String(next)) {
      return `${payload.body.message} is told, not ${next}`;
    } else next += 1;
  }
  return ends === 1 ? undefined : `it has ${ends} ends`;
}

async function simulate(seed: number): Promise<void> {
  const world = new World(seed);
  await world.start();
  for (let i = 0; i < MOVES; i += 1) await world.move();
  await world.settle();
  for (const [index, client] of world.clients.entries()) {
    const toldOf = (jobId: string) => client.frames.filter(({ job_id }) => job_id === jobId);
    for (const jobId of client.own) {
      const fault = faultOf(toldOf(jobId));
      expect(fault && `client ${index}, ${jobId}: ${fault}`).toBeUndefined();
    }
    for (const jobId of client.subscribed) {
      const heard = toldOf(jobId);
      // A subscription may itself have been lost before it was heard of; half of one may not.
      const fault = heard.length > 0 && faultOf(heard);
      expect(fault ? `follower ${index}, ${jobId}: ${fault}` : undefined).toBeUndefined();
    }
  }
  const disk = world.scene?.runtime.stats();
  expect(disk?.jobs).toBe(world.jobs.length);
}

test(
  "every client ends with every event exactly once and one end for each job",
  { timeout: 120_000 },
  async () => {
    const first = Number(process.env["SEED"] ?? 1);
    const runs = Number(process.env["RUNS"] ?? 25);
    for (let seed = first; seed < first + runs; seed += 1) {
      try {
        await simulate(seed);
      } catch (cause) {
        throw new Error(`seed ${seed}`, { cause });
      }
    }
  },
);
