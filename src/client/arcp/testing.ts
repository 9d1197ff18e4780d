/** For tests of the client: a runtime whose every frame the test says, over links it may cut. */
import { ArcpClient } from "./client.ts";
import type { ArcpClientOptions } from "./types.ts";
import { quiet, TestClock } from "../../engine/testing.ts";
import { MemoryLink } from "../../wires/arcp/transports/memory.ts";

export interface Frame {
  readonly id: string;
  readonly type: string;
  readonly session_id?: string;
  readonly job_id?: string;
  readonly trace_id: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export const SESSION = "sess_01KZ4TA0000000000000000003";
export const WELCOME = {
  runtime: { name: "scripted", version: "1" },
  resume_token: "rt_1",
  resume_window_sec: 600,
  capabilities: { features: ["ack", "list_jobs", "subscribe", "heartbeat"], agents: ["echo"] },
};

let frames = 0;

/** The runtime's end of one connection. */
export class ScriptedRuntime {
  readonly link = new MemoryLink();
  readonly heard: Frame[] = [];
  isClosed = false;

  constructor() {
    this.link.runtime.open({
      onFrame: (text) => void this.heard.push(JSON.parse(text) as Frame),
      onDrained: () => undefined,
      onClosed: () => (this.isClosed = true),
    });
  }

  say(type: string, payload: object, head: object = {}): void {
    frames += 1;
    const id = `msg_${frames}`;
    const text = JSON.stringify({ arcp: "1.1", id, type, session_id: SESSION, ...head, payload });
    this.link.runtime.send(text);
  }

  welcome(fields: object = {}, head: object = {}): void {
    this.say("session.welcome", { ...WELCOME, ...fields }, head);
  }

  /** An event of a job: a log line, unless something else is said. */
  event(jobId: string, seq: number, payload: object = log(`event-${seq}`)): void {
    this.say("job.event", payload, { job_id: jobId, event_seq: seq });
  }

  end(jobId: string, seq: number, payload: object = { final_status: "success", result: 1 }): void {
    this.say("job.result", payload, { job_id: jobId, event_seq: seq });
  }

  /** What it was sent of a type so far. */
  all(type: string): readonly Frame[] {
    return this.heard.filter((frame) => frame.type === type);
  }

  /** The newest of a type. */
  last(type: string): Frame {
    const frame = this.all(type).at(-1);
    if (frame) return frame;
    throw new Error(`no ${type} among ${this.heard.map((each) => each.type).join(", ")}`);
  }
}

export function log(message: string): object {
  return { kind: "log", ts: "2026-11-15T10:00:00Z", body: { level: "info", message } };
}

export interface Stage {
  readonly client: ArcpClient;
  readonly clock: TestClock;
  /** One for each connection. */
  readonly runtimes: ScriptedRuntime[];
  readonly runtime: ScriptedRuntime;
  readonly states: string[];
}

/** A client that is welcomed; what it does when it is cut is for the test to answer. */
export async function stage(
  options: Partial<ArcpClientOptions> = {},
  welcome: object = {},
): Promise<Stage> {
  const clock = new TestClock();
  const runtimes: ScriptedRuntime[] = [];
  const states: string[] = [];
  const connecting = ArcpClient.connect(
    () => {
      const next = new ScriptedRuntime();
      runtimes.push(next);
      return next.link.client;
    },
    {
      token: "tok",
      clock,
      random: () => 1,
      onState: ({ kind }) => states.push(kind),
      ...options,
    },
  );
  await quiet();
  const [runtime] = runtimes;
  if (!runtime) throw new Error("nobody called");
  runtime.welcome(welcome);
  const client = await connecting;
  return { client, clock, runtimes, runtime, states };
}
