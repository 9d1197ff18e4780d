/**
 * A team's daemon for tests of an outpost's end: its real operations on a real engine, reached by a
 * link that can lose a call, lose the answer to one, or break off.
 */
import { byOf } from "../../../src/core/by.ts";
import { RollcallError } from "../../../src/core/errors.ts";
import { decode, type Event } from "../../../src/core/events.ts";
import type { JsonRecord } from "../../../src/core/json-object.ts";
import { LOCAL } from "../../../src/core/principals.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { outposts as operations } from "../../../src/operations/outposts.ts";
import { OutpostService } from "../../../src/outposts/outposts.ts";
import type { Team } from "../../../src/wires/outpost/link.ts";
import { openEngine, type TestClock, TestLog } from "../engine/fixture.ts";

const HOST = "box";

/** The call does not arrive; or it does, and its answer is lost. */
export type Fault = "lost" | "unheard";

/** An operation, whatever its input. */
interface Runnable {
  readonly run: (services: object, input: unknown, call: object) => Promise<JsonRecord>;
}

const CALLER = byOf({ ...LOCAL, name: "token:box", roles: ["outpost"], host: HOST }, "http", "::1");

export class FakeTeam {
  readonly #clock: TestClock;
  readonly #log = new TestLog();
  #engine: Engine | undefined;
  #service: OutpostService | undefined;
  readonly #links = new Set<AbortController>();
  /** What happens to the next calls. */
  readonly faults: Fault[] = [];
  isReachable = true;
  /** The paths of calls that arrived. */
  readonly calls: string[] = [];

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  async start(): Promise<void> {
    const { engine } = await openEngine({ clock: this.#clock, log: this.#log, node: "team" });
    this.#engine = engine;
    this.#service = new OutpostService({ engine, clock: this.#clock, ownHosts: ["team"] });
  }

  /** As after kill -9: what was acknowledged is in the log, the rest is gone. */
  async restart(): Promise<void> {
    this.cut();
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    this.#service?.close();
    await this.#engine?.close();
    this.#engine = undefined;
    this.#service = undefined;
  }

  get engine(): Engine {
    if (!this.#engine) throw new Error("the team's daemon does not run");
    return this.#engine;
  }

  get service(): OutpostService {
    if (!this.#service) throw new RollcallError("UNAVAILABLE", "the team's daemon does not run");
    return this.#service;
  }

  /** Ends every connection. */
  cut(): void {
    for (const link of this.#links) link.abort();
    this.#links.clear();
  }

  /** All that became durable, in order. */
  async events(): Promise<readonly Event[]> {
    const events: Event[] = [];
    for await (const { first, entries } of this.#log.read(0)) {
      for (const [i, text] of entries.entries()) events.push(decode(text, first + i).event);
    }
    return events;
  }

  connect(): Team {
    const link = new AbortController();
    this.#links.add(link);
    return {
      post: (path, body) => this.#post(path, body, link.signal),
      requests: (session, signal) =>
        this.#requests(session, AbortSignal.any([link.signal, signal])),
      close: () => this.#links.delete(link),
    };
  }

  async #post(path: string, body: object, signal: AbortSignal): Promise<JsonRecord> {
    const fault = this.faults.shift();
    const isCut = () => signal.aborted || !this.isReachable;
    if (isCut() || fault === "lost") throw lost();
    this.calls.push(path);
    const operation = Object.values(operations).find((each) => each.path === path);
    if (!operation) throw new Error(`no operation at ${path}`);
    const services = { outposts: this.service, engine: this.engine };
    // Each has an input of its own, which its schema reads.
    const { run } = operation as unknown as Runnable;
    const answer = await run(services, operation.input.parse(body), { by: CALLER, signal });
    if (fault === "unheard" || isCut()) throw lost();
    return answer;
  }

  async *#requests(session: string, signal: AbortSignal): AsyncGenerator<string> {
    if (signal.aborted || !this.isReachable) throw lost();
    const stream = this.service.requests(HOST, session).open();
    signal.addEventListener("abort", () => stream.close(), { once: true });
    for await (const request of stream.requests) yield JSON.stringify(request);
    throw lost();
  }
}

function lost(): RollcallError {
  return new RollcallError("UNAVAILABLE", "the link is lost");
}
