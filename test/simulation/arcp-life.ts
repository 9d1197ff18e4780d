/**
 * One seed is one life of a whole ARCP runtime: clients and agents, and the process that serves
 * them. Connections are lost at any moment, frames come twice, the disk fails, the process is
 * killed with or without what it was writing, and starts again. When all has come to rest, it is
 * asked whether
 *
 * - every client has every frame of its session once, and the same bytes whenever it asked again;
 * - of each job that it hears of it has all that was said, in order, and one end;
 * - in the log and the streams, each job began and ended once, and no budget ever went up.
 */
import { decode } from "../../src/core/events.ts";
import { decodeSessionEntry, lastSeqOf } from "../../src/core/job-stream.ts";
import type { JobContext } from "../../src/jobs/context.ts";
import { MemoryMedium, memoryStore } from "../../src/log/memory/store.ts";
import type { Store } from "../../src/log/store.ts";
import type { Streams } from "../../src/log/streams.ts";
import type { ArcpRuntime } from "../../src/wires/arcp/server/runtime.ts";
import { MortalStore, play, type Frame, type Play } from "../support/arcp/fixture.ts";
import { quiet, TestClock } from "../support/engine/fixture.ts";
import { ArcpClient } from "./arcp-client.ts";
import { JobCheck } from "./job-check.ts";
import { replaced, type Plant } from "./plants.ts";
import { Random } from "./random.ts";
import type { Durable, DurableEntry } from "./sim-disk.ts";
import type { Failure } from "./simulate.ts";
import { checkStreams } from "./stream-check.ts";

const CLIENTS = 4;
const MOVES = 250;
const LIMITS = { runningPerPrincipal: 8, childrenAtOnce: 3, cancelGraceMs: 1_000 };

interface Puppet {
  readonly job: JobContext;
  readonly end: (value: string) => void;
  said: number;
}

export async function liveArcp(seed: number, plant?: Plant): Promise<readonly Failure[]> {
  const life = new ArcpLife(seed, plant);
  await life.start();
  for (let i = 0; i < MOVES && life.failures.length === 0; i += 1) await life.move();
  await life.settle();
  return life.failures;
}

class ArcpLife {
  readonly failures: Failure[] = [];
  readonly #plant: Plant | undefined;
  readonly #random: Random;
  readonly #medium = new MemoryMedium();
  readonly #written = new Written();
  readonly #clock = new TestClock();
  readonly #clients: readonly ArcpClient[];
  #puppets: Puppet[] = [];
  #scene: Play | undefined;
  #store: MortalStore | undefined;

  constructor(seed: number, plant: Plant | undefined) {
    this.#plant = plant;
    this.#random = new Random(seed);
    const jobs: string[] = [];
    this.#clients = Array.from({ length: CLIENTS }, (_, i) => {
      return new ArcpClient({
        name: `c${i + 1}`,
        random: this.#random.fork(`c${i + 1}`),
        scene: () => this.#scene,
        turns: (count) => this.#turns(count),
        fail: (invariant, detail) => this.#fail(invariant, detail),
        jobs,
      });
    });
  }

  #fail(invariant: string, detail: string): void {
    this.failures.push({ invariant, detail });
  }

  async start(): Promise<void> {
    this.#puppets = [];
    const puppet = (_: unknown, job: JobContext) =>
      new Promise<string>((end) => this.#puppets.push({ job, end, said: 0 }));
    const agents = (runtime: ArcpRuntime) => {
      runtime.registerAgent("mortal", puppet);
      runtime.registerAgent("phoenix", puppet, { restart: "always" });
    };
    const plain = this.#written.of(memoryStore({ medium: this.#medium, shared: false }));
    const planted = this.#plant?.streams?.(plain.streams) ?? plain.streams;
    const store = new MortalStore({ ...plain, streams: this.#slow(planted) });
    this.#store = store;
    const [medium, clock] = [this.#medium, this.#clock];
    this.#scene = await play({ agents, medium, clock, store, limits: LIMITS });
  }

  /** A read takes its time, as from a disk: much may happen before it comes back. */
  #slow(streams: Streams): Streams {
    const turns = () => this.#turns(this.#random.between(0, 3));
    return replaced(streams, {
      async *read(stream, after) {
        for await (const page of streams.read(stream, after)) {
          await turns();
          yield page;
        }
      },
    });
  }

  async #turns(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async move(): Promise<void> {
    const random = this.#random;
    const client = random.pick(this.#clients);
    const moves: readonly (readonly [weight: number, () => void | Promise<void>])[] = [
      [20, () => this.#say()],
      [6, () => client.submit()],
      [5, () => this.#endOne()],
      [4, () => client.subscribe()],
      [2, () => client.cancel()],
      [3, () => client.repeat()],
      [3, () => client.ack()],
      [4, () => client.lose()],
      [8, () => client.connect()],
      [2, () => this.#kill()],
      [1, () => this.#failDisk()],
      [2, () => this.#clock.advance(random.between(0, 2_000))],
      [12, () => this.#turns(random.between(0, 5))],
    ];
    let left = random.fraction() * moves.reduce((sum, [weight]) => sum + weight, 0);
    const chosen = moves.find(([weight]) => (left -= weight) < 0);
    await chosen?.[1]();
    for (const each of this.#clients) each.read();
  }

  #say(): void {
    const random = this.#random;
    if (this.#puppets.length === 0) return;
    // One whose process lost its lead is among them: it talks on, and nobody must hear of it.
    const puppet = random.pick(this.#puppets);
    for (let i = random.between(1, 3); i > 0; i -= 1) {
      void puppet.job.log("info", String(puppet.said));
      puppet.said += 1;
    }
    if (random.chance(0.3)) void puppet.job.metric("cost.tokens", 0.25, { unit: "USD" });
    if (random.chance(0.1)) void puppet.job.status("reading");
    if (random.chance(0.9)) return;
    const lease = random.chance(0.5) ? { "cost.budget": ["USD:1"] } : {};
    void puppet.job.delegate("mortal", { lease }).catch(() => undefined);
  }

  #endOne(): void {
    const at = this.#random.between(0, Math.max(0, this.#puppets.length - 1));
    const [puppet] = this.#puppets.splice(at, 1);
    puppet?.end("done");
  }

  /** The process dies; what it was writing is lost, or not. */
  async #kill(): Promise<void> {
    if (this.#random.chance(0.5)) this.#store?.hold();
    await this.#turns(this.#random.between(0, 3));
    this.#store?.kill();
    for (const client of this.#clients) client.lose();
    await this.start();
  }

  /** The next append fails, and may be written all the same: the runtime begins anew by itself. */
  async #failDisk(): Promise<void> {
    this.#store?.fail({ isWritten: this.#random.chance(0.5) });
    await this.#turns(this.#random.between(0, 3));
    await this.#clock.advance(this.#random.between(0, 1_000));
  }

  /** All are connected, all jobs end, and all is looked at. */
  async settle(): Promise<void> {
    for (let round = 0; round < 40 && this.failures.length === 0; round += 1) {
      await quiet();
      for (const client of this.#clients) {
        client.read();
        await client.connect();
      }
      for (const { end } of this.#puppets.splice(0)) end("done");
      await this.#clock.advance(1_500);
    }
    for (const [i, client] of this.#clients.entries()) {
      client.read();
      this.#checkClient(`c${i + 1}`, client);
    }
    this.#written.check((invariant, detail) => this.#fail(invariant, detail));
    await this.#scene?.runtime.close();
  }

  #checkClient(name: string, { frames, own, followed }: ArcpClient): void {
    const byJob = new Map<string, Frame[]>();
    // A subscription may itself have been lost before it was heard of; half of one may not.
    for (const jobId of own) byJob.set(jobId, []);
    for (const frame of frames) {
      const jobId = frame.job_id ?? "";
      byJob.set(jobId, [...(byJob.get(jobId) ?? []), frame]);
    }
    for (const [jobId, heard] of byJob) {
      const fault = faultOf(heard);
      const as = followed.has(jobId) ? "follows" : "submitted";
      if (fault !== undefined) this.#fail("all of a job, once", `${name} ${as} ${jobId}: ${fault}`);
    }
  }
}

/** The first fault in the frames that one client has of one job; nothing when all is well. */
function faultOf(frames: readonly Frame[]): string | undefined {
  let next = 0;
  let ends = 0;
  for (const { type, payload } of frames) {
    if (ends > 0) return "something follows the end";
    if (type !== "job.event") ends += 1;
    else if (payload["kind"] === "status" && payload.body["phase"] === "restarted") next = 0;
    else if (payload["kind"] === "log") {
      if (payload.body.message !== String(next)) return `${payload.body.message}, not ${next}`;
      next += 1;
    }
  }
  return ends === 1 ? undefined : `it has ${ends} ends`;
}

/** Everything that became durable, append by append. */
class Written {
  readonly #archive: Durable[] = [];
  readonly #streams = new Map<string, DurableEntry[]>();
  #step = 0;

  of(store: Store): Store {
    const { log } = store;
    const append = log.append.bind(log);
    log.append = async (batch, at, options) => {
      const position = await append(batch, at, options);
      this.#step += 1;
      const [step, virtualMs, writer] = [this.#step, 0, "solo"];
      for (const text of batch.entries) {
        const sequence = this.#archive.length + 1;
        const { id } = options;
        const { mark } = position;
        this.#archive.push({ sequence, text, writer, step, virtualMs, id, mark });
      }
      for (const { stream, entries } of batch.streams ?? []) {
        const archived = this.#streams.get(stream) ?? [];
        this.#streams.set(stream, archived);
        archived.push(...entries.map((text) => ({ text, step })));
      }
      return position;
    };
    return store;
  }

  check(fail: (invariant: string, detail: string) => void): void {
    const recorded = this.#archive.map(({ text, sequence }) => decode(text, sequence));
    const jobs = new JobCheck();
    for (const each of recorded) jobs.take(each, fail);
    jobs.end({ node: "solo", sequence: Infinity }, fail);
    checkStreams({ archive: this.#archive, recorded, streams: this.#streams }, fail);
    for (const [stream, entries] of this.#streams) {
      if (stream.startsWith("session/")) checkSession(stream, entries, fail);
    }
  }
}

/** The numbers of a session follow each other. */
function checkSession(
  stream: string,
  entries: readonly DurableEntry[],
  fail: (invariant: string, detail: string) => void,
): void {
  let last = 0;
  for (const { text } of entries) {
    const entry = decodeSessionEntry(text);
    if (entry.seq !== last + 1) {
      fail("no gap and no repeat in a session", `${stream}: ${entry.seq} after ${last}`);
    }
    last = lastSeqOf(entry);
  }
}
