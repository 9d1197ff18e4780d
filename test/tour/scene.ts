/**
 * One daemon, and everybody who meets there: what the tour shows and the end-to-end test proves.
 *
 *   claude   hooks, as Claude Code runs them ─────┐
 *   editor   ACP, through the proxy; and a hook,  │
 *            and a registration: one agent ───────┤
 *   workers  the AgentKeeper SDK for Python ──────┼──▶ one daemon ──▶ ls, events, MCP, …
 *   translator  A2A, with a card of its own ──────┤
 *   job      ARCP ────────────────────────────────┘
 */
import { lacks } from "../../scripts/prerequisites.mjs";
import { connect, type Client } from "../../src/wires/api/client/client.ts";
import type { Row } from "../../src/fleet/row.ts";
import type { FleetList } from "../../src/wires/api/answers.ts";
import { Claude } from "./cast/claude.ts";
import { Editor } from "./cast/editor.ts";
import { FollowedJob, gateOf, HOSTED } from "./cast/job.ts";
import { TwoMachines } from "./cast/machines.ts";
import { Translator } from "./cast/translator.ts";
import { KeeperWorker } from "./cast/workers.ts";
import { Actor } from "./actor.ts";
import { caught, commandFor, type Caught, type Look } from "./command.ts";
import { Daemon } from "./daemon.ts";
import { Place } from "./place.ts";
import type { Need } from "./player.ts";
import { until } from "./until.ts";

/** Nobody counts as stuck because somebody who watches went for a coffee. */
const CONFIG = `stuck_after = 0\n\n${HOSTED}`;

export class Scene implements AsyncDisposable {
  readonly place: Place;
  readonly daemon: Daemon;
  readonly client: Client;
  /** Workers need a Python with their SDK. */
  readonly hasWorkers = !lacks("agentkeeper-sdk");
  readonly #hasPostgres = !lacks("postgres");

  /** Each comes when first asked for. */
  readonly claude = once(() => Claude.asking(this.place));
  readonly editor = once(() => Editor.asking(this.place, this.daemon.grpcAddress));
  readonly workers = once(async () => {
    const start = (name: string) => KeeperWorker.start(name, this.place, this.daemon.grpcAddress);
    return [await start("scraper-1"), await start("scraper-2")] as const;
  });
  readonly translator = once(() => Translator.start(this.place, this.daemon.url));
  readonly job = once(() => FollowedJob.start(this.place));
  readonly machines = once(() => TwoMachines.start(this.place));

  private constructor(place: Place, daemon: Daemon) {
    this.place = place;
    this.daemon = daemon;
    this.client = connect({ url: daemon.url });
  }

  static async open(): Promise<Scene> {
    const place = new Place();
    try {
      const config = place.write("rollcall.toml", CONFIG);
      place.tellAll({ ROLLCALL_CONFIG: config, TOUR_GATE: gateOf(place) });
      const daemon = await Daemon.start({ env: place.env, cwd: place.home });
      place.hold(daemon);
      place.tellAll({ ROLLCALL_URL: daemon.url });
      return new Scene(place, daemon);
    } catch (error) {
      await place.close();
      throw error;
    }
  }

  has(need: Need): boolean {
    return need === "workers" ? this.hasWorkers : this.#hasPostgres;
  }

  /** A command of ours, as a process. */
  async run(words: readonly string[], look?: Look): Promise<Caught> {
    const { env, shop } = this.place;
    return caught(words, { env, cwd: shop, ...(look && { look }) });
  }

  /** One that goes on until the end. */
  follow(words: readonly string[], look?: Look): Actor {
    const { command, env } = commandFor(words, this.place.env, look);
    const actor = new Actor(command, { env, cwd: this.place.shop });
    this.place.hold(actor);
    return actor;
  }

  async rows(): Promise<readonly Row[]> {
    return ((await this.client.get("/v1/fleet")) as unknown as FleetList).rows;
  }

  /** The row of this name, once it is as wanted: what an agent does takes a moment to be told. */
  async sees(name: string, isWanted: (row: Row) => boolean = () => true): Promise<Row> {
    return until(`${name} in the fleet`, async () => {
      const rows = await this.rows();
      const found = rows.find((row) => row.name === name && isWanted(row));
      if (found) return found;
      throw new Error(`there is ${rows.map((row) => `${row.name} ${row.headline}`).join(", ")}`);
    });
  }

  async json<Answer>(...words: readonly string[]): Promise<Answer> {
    const { code, stdout, text } = await this.run([...words, "--json"]);
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${text}`);
    return JSON.parse(stdout) as Answer;
  }

  async close(): Promise<void> {
    this.client.close();
    await this.place.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
