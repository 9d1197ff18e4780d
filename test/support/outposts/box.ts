/** For tests: a machine that reports to a team, with an engine of its own, and what it says. */
import { LIBRARY } from "../../../src/core/by.ts";
import { RollcallError } from "../../../src/core/errors.ts";
import type { JobEnding } from "../../../src/core/job-rules.ts";
import type { Facts } from "../../../src/core/reports.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { SharePolicy } from "../../../src/wires/outpost/policy.ts";
import { Uplink, type UplinkOptions } from "../../../src/wires/outpost/uplink.ts";
import { openEngine, type TestClock } from "../engine/fixture.ts";
import type { FakeTeam } from "./fake-team.ts";

export const POLICY: SharePolicy = {
  share: "questions",
  accept: "answers",
  exclude: [],
  redact: [],
};

export class Box {
  readonly #team: FakeTeam;
  readonly #clock: TestClock;
  readonly engine: Engine;
  uplink: Uplink;
  #order = 0;
  /** What was said, in order: "AGENT: MESSAGE". */
  readonly said: string[] = [];
  readonly troubles: string[] = [];

  static async open(team: FakeTeam, clock: TestClock, rest: Partial<UplinkOptions> = {}) {
    const { engine } = await openEngine({ clock, node: "laptop" });
    return new Box({ team, clock, engine, rest });
  }

  private constructor({ team, clock, engine, rest }: BoxParts) {
    this.#team = team;
    this.#clock = clock;
    this.engine = engine;
    this.uplink = this.start(rest);
  }

  start(rest: Partial<UplinkOptions> = {}): Uplink {
    this.uplink = new Uplink({
      engine: this.engine,
      clock: this.#clock,
      url: "http://team.example",
      policy: POLICY,
      submit: () => Promise.reject(new RollcallError("NOT_FOUND", "no agent runs jobs here")),
      facts: { instance: "one", machine: "laptop", version: "1" },
      ownHosts: ["laptop"],
      connect: () => this.#team.connect(),
      random: () => 0.5,
      onTrouble: (what) => this.troubles.push(what),
      ...rest,
    });
    return this.uplink;
  }

  /** One agent does something that it did not do before. */
  async say(agent: string, message: string, facts: Partial<Facts> = {}): Promise<void> {
    this.#order += 1;
    this.said.push(`${agent}@box: ${message}`);
    const order = this.#clock.wallMs() - 2_000 + this.#order;
    await this.tell({
      alias: `file@laptop:${agent}`,
      agentId: agent,
      order,
      facts: {
        liveness: { value: "alive", rule: "fresh" },
        activity: { value: "working", rule: "r", message },
        ...facts,
      },
    });
  }

  tell(report: { alias: string; agentId: string; order: number; facts: Facts }) {
    const whole = { links: [], reportedAtMs: report.order, ...report };
    return this.engine.execute({ type: "fleet.report", report: whole }, LIBRARY);
  }

  /** A job of the agent `echo` of this machine. */
  submit(jobId: string) {
    const about = { agent: "echo", principal: "local", node: "laptop", session: "", parent: "" };
    return this.engine.execute(
      { type: "job.submit", jobId, ...about, lease: {}, traceId: "0".repeat(32) },
      LIBRARY,
    );
  }

  end(jobId: string, ending: JobEnding) {
    return this.engine.execute({ type: "job.end", jobId, ending }, LIBRARY);
  }

  async close(): Promise<void> {
    await this.uplink.close();
    await this.engine.close();
  }
}

interface BoxParts {
  readonly team: FakeTeam;
  readonly clock: TestClock;
  readonly engine: Engine;
  readonly rest: Partial<UplinkOptions>;
}
