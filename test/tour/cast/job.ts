/** A job on an agent that the daemon hosts, and the command that follows it to its end. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../scripts/root.mjs";
import { Actor } from "../actor.ts";
import type { Place } from "../place.ts";

const MODULE = join(root, "test/tour/actors/indexer.mjs");
const PROGRAM = join(root, "dist/bin/rollcall.js");

/** What the daemon must know of the agent: what runs when it dies runs again. */
export const HOSTED = `[agents.indexer]\nmodule = ${JSON.stringify(MODULE)}\nrestart = "always"\n`;

export function gateOf({ home }: Place): string {
  return join(home, "indexed");
}

export class FollowedJob extends Actor {
  readonly #place: Place;
  id = "";

  private constructor(place: Place) {
    const words = ["run", "indexer", "shop", "--follow"];
    super([process.execPath, PROGRAM, ...words], { env: place.env, cwd: place.home });
    this.#place = place;
  }

  /** Once it is under way. */
  static async start(place: Place): Promise<FollowedJob> {
    const job = new FollowedJob(place);
    place.hold(job);
    [, job.id = ""] = await job.notes(/job (\S+) on indexer/);
    await job.notes(/120/);
    return job;
  }

  /** The agent finds the rest, and the command ends with the result. */
  async finish(): Promise<string> {
    writeFileSync(gateOf(this.#place), "");
    const { code } = await this.ended;
    if (code !== 0) throw new Error(`the job ended with ${code}: ${this.errors}`);
    return this.output.trim();
  }
}
