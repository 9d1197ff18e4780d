/**
 * The load, a process of its own that is told what to do: jobs in a closed loop over a few
 * sessions, as fast as the server ends them, or many sessions that do nothing. Frames are canned.
 */
import { frameOf, Wire, type Listener } from "./wire.ts";

/** So many jobs of each session are under way all the time. */
export interface Load {
  readonly kind: "load";
  readonly url: string;
  readonly agent: string;
  readonly sessions: number;
  readonly jobsAtOnce: number;
  readonly eventsPerJob: number;
  /** Jobs that end later are not followed by another. What counts is until the last one ends. */
  readonly submittedMs: number;
}

export interface Idle {
  readonly kind: "idle";
  readonly url: string;
  /** Opened besides those that are open. */
  readonly sessions: number;
}

export interface Measured {
  readonly jobsPerSecond: number;
  readonly eventsPerSecond: number;
  /** From a submit to its `job.accepted`. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const HELLO = frameOf(
  JSON.stringify({
    arcp: "1.1",
    id: `msg_${"0".repeat(26)}`,
    type: "session.hello",
    payload: {
      client: { name: "load", version: "1.0.0" },
      auth: { scheme: "bearer", token: "tok" },
      capabilities: { encodings: ["json"], features: [] },
    },
  }),
);
const DIGITS = 26;
const TYPE = Buffer.from('"type":"');
/** Opened at the same time; more would only fill the server's backlog. */
const OPENED_AT_ONCE = 64;

let lastId = 0;
const idle: Session[] = [];

/** What a load counts, over all its sessions. */
class Count {
  readonly #load: Load;
  #startMs = 0;
  #jobs = 0;
  #events = 0;
  readonly #waitsMs: number[] = [];

  constructor(what: Load) {
    this.#load = what;
  }

  start(): void {
    this.#startMs = performance.now();
  }

  get isOver(): boolean {
    return performance.now() - this.#startMs >= this.#load.submittedMs;
  }

  /** What one read brought. */
  add(jobs: number, events: number, waitsMs: readonly number[]): void {
    this.#jobs += jobs;
    this.#events += events;
    for (const ms of waitsMs) this.#waitsMs.push(ms);
  }

  get result(): Measured {
    const seconds = (performance.now() - this.#startMs) / 1000;
    const { eventsPerJob } = this.#load;
    if (this.#events !== this.#jobs * eventsPerJob) {
      throw new Error(`${this.#events} events of ${this.#jobs} jobs, not ${eventsPerJob} each`);
    }
    const sorted = Float64Array.from(this.#waitsMs).sort();
    return {
      jobsPerSecond: this.#jobs / seconds,
      eventsPerSecond: this.#events / seconds,
      p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? NaN,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? NaN,
    };
  }
}

/** One session: it is welcomed, and then keeps its jobs going until the time is over. */
class Session implements Listener {
  readonly #count: Count | undefined;
  readonly #submit: Buffer;
  readonly #digitsAt: number;
  /** When each submit was sent that is not accepted yet; they are accepted in order. */
  readonly #sentMs: number[] = [];
  #wire: Wire | undefined;
  #underWay = 0;
  #ended = 0;
  #events = 0;
  #waitsMs: number[] = [];
  #settle: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;

  constructor(agent: string, count?: Count) {
    this.#count = count;
    const id = `msg_${"0".repeat(DIGITS)}`;
    const payload = { agent, input: { text: "hello" }, lease_request: {} };
    this.#submit = frameOf(JSON.stringify({ arcp: "1.1", id, type: "job.submit", payload }));
    this.#digitsAt = this.#submit.indexOf(id) + 4;
  }

  /** Resolves when it is welcomed. */
  async open(url: string): Promise<void> {
    const welcomed = this.#next();
    this.#wire = await Wire.open(url, this);
    this.#wire.write(HELLO);
    await welcomed;
  }

  /** Resolves when the last job ended. */
  run(jobsAtOnce: number): Promise<void> {
    const done = this.#next();
    this.#send(jobsAtOnce);
    return done;
  }

  close(): void {
    this.#wire?.close();
  }

  #next(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
  }

  onFrame(bytes: Buffer, start: number, end: number): void {
    const at = bytes.indexOf(TYPE, start) + TYPE.length;
    const type = bytes.toString("latin1", at, at + 6);
    if (type === "job.ev") this.#events += 1;
    else if (type === "job.re") this.#ended += 1;
    else if (type === "job.ac")
      this.#waitsMs.push(performance.now() - (this.#sentMs.shift() ?? NaN));
    else if (bytes.toString("latin1", at, at + 15) === "session.welcome") this.#settle();
    else this.#fail(new Error(`under load it says ${bytes.toString("utf8", start, end)}`));
  }

  onRead(): void {
    const count = this.#count;
    if (!count) return;
    count.add(this.#ended, this.#events, this.#waitsMs);
    this.#underWay -= this.#ended;
    const isOver = count.isOver;
    if (!isOver && this.#ended > 0) this.#send(this.#ended);
    this.#ended = 0;
    this.#events = 0;
    this.#waitsMs = [];
    if (isOver && this.#underWay === 0) this.#settle();
  }

  #send(count: number): void {
    const { length } = this.#submit;
    const frames = Buffer.allocUnsafe(count * length);
    for (let i = 0; i < count; i += 1) {
      lastId += 1;
      this.#submit.copy(frames, i * length);
      frames.write(String(lastId).padStart(DIGITS, "0"), i * length + this.#digitsAt, "latin1");
      this.#sentMs.push(performance.now());
    }
    this.#underWay += count;
    this.#wire?.write(frames);
  }
}

async function load(what: Load): Promise<Measured> {
  const { url, agent, sessions, jobsAtOnce } = what;
  const count = new Count(what);
  const all = Array.from({ length: sessions }, () => new Session(agent, count));
  await Promise.all(all.map((session) => session.open(url)));
  count.start();
  await Promise.all(all.map((session) => session.run(jobsAtOnce)));
  for (const session of all) session.close();
  return count.result;
}

async function open({ url, sessions }: Idle): Promise<void> {
  let left = sessions;
  const opener = async () => {
    while (left > 0) {
      left -= 1;
      const session = new Session("");
      await session.open(url);
      idle.push(session);
    }
  };
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, opener));
}

process.on("message", (asked: Load | Idle) => {
  const answer = asked.kind === "load" ? load(asked) : open(asked);
  answer.then(
    (value) => process.send?.({ value }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
