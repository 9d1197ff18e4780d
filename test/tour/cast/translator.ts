/** An A2A agent that publishes its card and keeps itself in the directory. */
import { join } from "node:path";
import { root } from "../../../scripts/root.mjs";
import { Actor } from "../actor.ts";
import type { Place } from "../place.ts";

const SCRIPT = join(root, "test/tour/actors/translator.mjs");

export class Translator extends Actor {
  url = "";

  private constructor(place: Place, registryUrl: string) {
    const env = { ...place.env, REGISTRY_URL: registryUrl };
    super([process.execPath, SCRIPT], { env, cwd: place.home });
  }

  /** Once the daemon has fetched its card. */
  static async start(place: Place, registryUrl: string): Promise<Translator> {
    const translator = new Translator(place, registryUrl);
    place.hold(translator);
    [, translator.url = ""] = await translator.says(/verified (http:\S+)/);
    return translator;
  }
}
