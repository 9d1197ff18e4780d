/**
 * Everything that reads along, put together: the observer feeds the reading, and what it makes of
 * it goes into the status file and the fleet, into the timeline, into the recording if one is
 * wanted, and into the stream if that is wanted.
 */
import type { Clock } from "../../engine/clock.ts";
import type { Frame, Sender } from "../../wires/acp/frames.ts";
import type { AcpRecord } from "../../wires/acp/record.ts";
import type { Ended } from "./agent-process.ts";
import { Injector, type Injection } from "./injection.ts";
import { Observer } from "./observer.ts";
import { Publisher, type PublisherOptions } from "./publisher.ts";
import { Reading } from "./reading.ts";
import type { Recorder } from "./recording.ts";
import { lineOf, sweepTimelines, timelineDirectory, TimelineWriter } from "./timeline.ts";

/** Sessions of which the last line is remembered; without it a line comes twice. */
const MAX_TOLD = 1_000;

export interface AttendantOptions extends Omit<PublisherOptions, "clock"> {
  readonly clock: Clock;
  readonly injection: Injection;
  readonly isBehindProxy: boolean;
  /** Says a line to the client between two of the agent's, if it can be said now. */
  readonly interject: (line: string) => boolean;
  readonly recorder: Recorder | undefined;
}

export class Attendant implements AsyncDisposable {
  readonly #id: string;
  readonly #name: string;
  readonly #reading: Reading;
  readonly #observer: Observer;
  readonly #injector: Injector;
  readonly #publisher: Publisher;
  readonly #timeline: TimelineWriter;
  readonly #recorder: Recorder | undefined;
  /** What the last line of each session in the timeline says. */
  readonly #told = new Map<string | null, string>();

  constructor(options: AttendantOptions) {
    const { id, name, clock, env, injection, isBehindProxy, interject, onError } = options;
    this.#id = id;
    this.#name = name;
    this.#recorder = options.recorder;
    this.#publisher = new Publisher(options);
    const directory = timelineDirectory(env);
    this.#timeline = new TimelineWriter(id, directory);
    void sweepTimelines(clock.wallMs(), directory);
    this.#reading = new Reading({
      clock,
      name,
      onFrame: (sender, frame, atMs) => this.#saw(sender, frame, atMs),
      onChange: (record, atMs) => this.#changed(record, atMs),
      onShow: (record, atMs) => this.#show(record, atMs),
      // Who does not know whether a turn is open says nothing any more.
      onLost: () => this.#injector.close(),
      onSettled: () => this.#settled(),
    });
    const now = () => this.#reading.nowMs();
    this.#observer = new Observer({ onlooker: this.#reading, clock, now, onError });
    this.#injector = new Injector({
      injection,
      deriver: this.#reading.deriver,
      clock,
      isBehindProxy,
      isUpToDate: () => this.#observer.isUpToDate,
      interject,
    });
  }

  /** A chunk went by. */
  note(sender: Sender, chunk: Buffer): void {
    this.#observer.note(sender, chunk);
  }

  /** The agent is gone, and all that it said went by. */
  ended(how: Ended): void {
    this.#injector.close();
    this.#observer.close();
    this.#reading.ended(how);
  }

  /** Nothing is left behind: no file, no question, no timer. */
  async close(): Promise<void> {
    this.#injector.close();
    this.#observer.close();
    this.#reading.close();
    await Promise.all([this.#publisher.close(), this.#timeline.close(), this.#recorder?.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #saw(sender: Sender, frame: Frame, atMs: number): void {
    this.#injector.saw(sender, frame);
    this.#recorder?.look(sender, frame, atMs);
  }

  #changed(record: AcpRecord, atMs: number): void {
    const { deriver } = this.#reading;
    const { sessionId } = record;
    const name = deriver.facts.agent?.name ?? this.#name;
    const line = lineOf({ atMs, agent: this.#id, name, record });
    const said = JSON.stringify({ ...line, at: undefined, sessionId: undefined });
    // The agent as a whole is the most urgent of its sessions: it would be told twice.
    const isTold =
      sessionId === null
        ? [...this.#told.values()].includes(said)
        : this.#told.get(sessionId) === said;
    if (isTold) return;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.set(sessionId, said);
    this.#timeline.write(line);
  }

  #show(record: AcpRecord, atMs: number): void {
    if (record.sessionId === null) this.#publisher.show(this.#reading.presence(record, atMs));
    else this.#injector.show(record);
  }

  #settled(): void {
    this.#injector.settled();
    this.#publisher.activity();
  }
}
