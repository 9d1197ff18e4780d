/**
 * For tests of the runtime: a peer that speaks raw frames over a wire the test holds in its hand,
 * and a runtime on a clock moved by hand with chance that repeats.
 */
import { quiet, TestClock } from "../engine/fixture.ts";
import { memoryStore, MemoryMedium } from "../../../src/log/memory/store.ts";
import type { Log } from "../../../src/log/log.ts";
import type { Store } from "../../../src/log/store.ts";
import type { Streams } from "../../../src/log/streams.ts";
import { ArcpRuntime, type ArcpRuntimeOptions } from "../../../src/wires/arcp/server/runtime.ts";
import type {
  Transport,
  TransportEnding,
  TransportListener,
} from "../../../src/wires/arcp/server/transport.ts";
import { staticTokens } from "../../../src/wires/arcp/server/verifiers.ts";

export interface Frame {
  readonly id: string;
  readonly type: string;
  readonly session_id?: string;
  readonly job_id?: string;
  readonly trace_id?: string;
  readonly event_seq?: number;
  readonly payload: Payload;
}

/** What tests look into; a frame has what its type has. */
export interface Payload {
  readonly [field: string]: unknown;
  readonly body: Body;
  readonly capabilities: { readonly features: readonly string[]; readonly agents: unknown };
  readonly details: { readonly request_id?: string } | undefined;
  readonly jobs: readonly { readonly [field: string]: unknown; readonly created_at: string }[];
}

export interface Body {
  readonly [field: string]: unknown;
  readonly message: string;
  readonly error: { readonly code: string; readonly message: string };
}

/** The runtime's end of a wire. */
class TestWire implements Transport {
  readonly maxFrameBytes = 1024 * 1024;
  readonly raw: string[] = [];
  ending: TransportEnding | undefined;
  /** Off, what is sent piles up as in a socket nobody reads. */
  isReading = true;
  waitingBytes = 0;
  listener: TransportListener | undefined;
  #waiting: string[] = [];

  open(listener: TransportListener): void {
    this.listener = listener;
  }

  send(frame: string): void {
    if (this.ending) return;
    if (this.isReading) {
      this.raw.push(frame);
      return;
    }
    this.#waiting.push(frame);
    this.waitingBytes += frame.length;
  }

  read(): void {
    this.isReading = true;
    this.raw.push(...this.#waiting);
    this.#waiting = [];
    this.waitingBytes = 0;
    this.listener?.onDrained();
  }

  close(ending: TransportEnding = { code: 1000, reason: "" }): void {
    if (this.ending) return;
    this.ending = ending;
    this.listener?.onClosed(ending);
  }
}

export interface HelloOptions {
  readonly token?: string;
  readonly features?: readonly string[];
  readonly profile?: "spec" | "py" | "ts";
  readonly resume?: { session_id: string; resume_token: string; last_event_seq: number };
}

const ALL_FEATURES = [
  "ack",
  "list_jobs",
  "subscribe",
  "lease_expires_at",
  "cost.budget",
  "model.use",
  "provisioned_credentials",
  "progress",
  "result_chunk",
  "agent_versions",
];

let ids = 0;

export class TestPeer {
  readonly wire = new TestWire();
  sessionId: string | undefined;
  token = "";

  get frames(): readonly Frame[] {
    return this.wire.raw.map((frame) => JSON.parse(frame) as Frame);
  }

  of(type: string): readonly Frame[] {
    return this.frames.filter((frame) => frame.type === type);
  }

  last(type: string): Frame {
    const found = this.of(type).at(-1);
    if (!found) {
      const seen = this.frames.map((frame) => frame.type).join(" ");
      throw new Error(`no ${type} came, only: ${seen}`);
    }
    return found;
  }

  /** The numbered ones: events and ends. */
  get stream(): readonly Frame[] {
    return this.frames.filter((frame) => frame.event_seq !== undefined);
  }

  /** Sends a frame and gives its id. */
  send(type: string, payload: object, more: object = {}): string {
    ids += 1;
    const id = `m-${ids}`;
    const session = this.sessionId === undefined ? {} : { session_id: this.sessionId };
    this.sendText(JSON.stringify({ arcp: "1.1", id, type, ...session, payload, ...more }));
    return id;
  }

  sendText(text: string): void {
    if (!this.wire.ending) this.wire.listener?.onFrame(text);
  }

  async hello(options: HelloOptions = {}): Promise<Frame> {
    const { token = "alice-token", features = ALL_FEATURES, profile = "spec", resume } = options;
    ids += 1;
    const ulid = `01KZ4TA0000000000000${String(ids).padStart(6, "0")}`;
    const id = { spec: `hello-${ids}`, py: ulid, ts: `msg_${ulid}` }[profile];
    const capabilities = {
      encodings: ["json"],
      features,
      ...(profile === "py" && { agents: [] }),
    };
    const payload = {
      client: { name: "test", version: "1" },
      auth: { scheme: "bearer", token },
      capabilities,
      ...(resume && { resume }),
    };
    this.send("session.hello", payload, { id });
    await quiet();
    const [first] = this.frames;
    if (!first) throw new Error(`no answer to the hello: ${JSON.stringify(this.wire.ending)}`);
    if (first.type === "session.welcome") {
      this.sessionId = first.session_id;
      this.token = String(first.payload["resume_token"]);
    }
    return first;
  }

  /** Submits and gives the frame that answers. */
  async submit(agent: string, more: object = {}, envelope: object = {}): Promise<Frame> {
    const id = this.send("job.submit", { agent, ...more }, envelope);
    await quiet();
    const answer = this.frames.findLast(
      ({ payload }) => payload["request_id"] === id || payload["details"]?.request_id === id,
    );
    return answer ?? this.last("job.error");
  }

  lose(): void {
    this.wire.close({ code: 1006, reason: "" });
  }
}

export interface Play {
  readonly runtime: ArcpRuntime;
  readonly clock: TestClock;
  readonly medium: MemoryMedium;
  readonly troubles: string[];
  readonly connect: () => TestPeer;
  /** A peer that was welcomed. */
  readonly open: (options?: HelloOptions) => Promise<TestPeer>;
}

export interface PlayOptions extends Partial<ArcpRuntimeOptions> {
  readonly medium?: MemoryMedium;
  /** Registers the agents. */
  readonly agents?: (runtime: ArcpRuntime) => void;
}

const TOKENS = { "alice-token": "alice", "bob-token": "bob" };

/** A runtime on a journal in memory; give the medium of another to start where that one was. */
export async function play(options: PlayOptions = {}): Promise<Play> {
  const { medium = new MemoryMedium(), agents, ...more } = options;
  const clock = more.clock instanceof TestClock ? more.clock : new TestClock();
  const troubles: string[] = [];
  const runtime = new ArcpRuntime({
    runtime: { name: "test-runtime", version: "1.0.0" },
    bearer: staticTokens(TOKENS),
    store: memoryStore({ medium, shared: false }),
    onTrouble: (what) => troubles.push(what),
    ...more,
    clock,
  });
  agents?.(runtime);
  await runtime.start();
  const connect = () => {
    const peer = new TestPeer();
    runtime.accept(peer.wire);
    return peer;
  };
  return {
    runtime,
    clock,
    medium,
    troubles,
    connect,
    open: async (hello) => {
      const peer = connect();
      const answer = await peer.hello(hello);
      if (answer.type !== "session.welcome") throw new Error(JSON.stringify(answer));
      return peer;
    },
  };
}

/**
 * A store whose process can be killed: from that moment nothing it is asked for ever happens. While
 * it is held, appends wait; a kill then takes them back, as if they had never been made.
 */
export class MortalStore implements Store {
  readonly description = "mortal";
  readonly log: Log;
  readonly streams: Streams;
  readonly #inner: Store;
  #held: (() => void)[] | undefined;
  #isDead = false;
  #fault: { readonly isWritten: boolean } | undefined;

  constructor(inner: Store) {
    this.#inner = inner;
    this.log = this.#guarded(inner.log);
    this.streams = this.#guarded(inner.streams);
  }

  hold(): void {
    this.#held ??= [];
  }

  letGo(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const go of held) go();
  }

  kill(): void {
    this.#isDead = true;
  }

  /** The next append fails, written or not. */
  fail(fault: { readonly isWritten: boolean }): void {
    this.#fault = fault;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #guarded<T extends object>(inner: T): T {
    return new Proxy(inner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        const call = (...args: readonly unknown[]): unknown => Reflect.apply(value, target, args);
        if (name === "read" || name === "follow" || name === "ranges") return call;
        return async (...args: readonly unknown[]) => {
          if (name === "append" && this.#held) {
            await new Promise<void>((resolve) => this.#held?.push(resolve));
          }
          await this.#live();
          const fault = name === "append" ? this.#fault : undefined;
          if (fault) this.#fault = undefined;
          const result = fault?.isWritten === false ? undefined : await call(...args);
          await this.#live();
          if (fault) throw new Error("the disk failed");
          return result;
        };
      },
    });
  }

  async #live(): Promise<void> {
    if (this.#isDead) await new Promise<never>(() => undefined);
  }
}
