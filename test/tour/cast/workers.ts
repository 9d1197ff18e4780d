/** Workers with the AgentKeeper Python SDK, each a process of its own. */
import { join } from "node:path";
import { AGENTKEEPER_PYTHON } from "../../../scripts/prerequisites.mjs";
import { root } from "../../../scripts/root.mjs";
import { Actor } from "../actor.ts";
import type { Place } from "../place.ts";

const SCRIPT = join(root, "test/tour/actors/worker.py");

export class KeeperWorker extends Actor {
  readonly name: string;
  agentId = "";

  private constructor(name: string, place: Place, port: string) {
    const env = { ...place.env, PYTHONDONTWRITEBYTECODE: "1" };
    super([AGENTKEEPER_PYTHON, SCRIPT, name, port], { env, cwd: place.home });
    this.name = name;
  }

  /** Registered, and a candidate for its group. */
  static async start(name: string, place: Place, keeperAddress: string): Promise<KeeperWorker> {
    const worker = new KeeperWorker(name, place, keeperAddress.replace(/.*:/, ""));
    place.hold(worker);
    [, worker.agentId = ""] = await worker.says(/(\w+) is here/);
    return worker;
  }

  async works(): Promise<{ readonly taskId: string; readonly token: number }> {
    const [, taskId = "", token] = await this.says(/works on (\w+) with token (\d+)/);
    return { taskId, token: Number(token) };
  }

  async finish(): Promise<void> {
    this.tell("done");
    await this.says(/finished \w+/);
  }
}
