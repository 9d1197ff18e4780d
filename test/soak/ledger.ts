/**
 * What the daemon acknowledged, in the words of its log, and whether the log has it: all of it, and
 * nothing twice that can only happen once.
 */
import { isRecord } from "../../src/core/json-object.ts";
import { connect } from "../../src/wires/api/client/client.ts";

export class Ledger {
  readonly #facts = new Set<string>();
  readonly #byWire = new Map<string, number>();
  refusals = 0;
  lastRefusal = "";

  get size(): number {
    return this.#facts.size;
  }

  /** How much each wire acknowledged. */
  get byWire(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#byWire);
  }

  acknowledged(wire: string, fact: string): void {
    this.#facts.add(fact);
    this.#byWire.set(wire, (this.#byWire.get(wire) ?? 0) + 1);
  }

  refused(why: string): void {
    this.refusals += 1;
    this.lastRefusal = why;
  }

  /** The facts that the log lacks, those that it has twice, and gaps in its sequence. */
  async faults(url: string): Promise<readonly string[]> {
    const counts = new Map<string, number>();
    const gaps: string[] = [];
    await using daemon = connect({ url, socket: false });
    const { head } = await daemon.get("/v1/status");
    let last = 0;
    for await (const item of daemon.events({ from: 0 })) {
      if (item.sequence !== last + 1) gaps.push(`${item.sequence} comes after ${last}`);
      last = item.sequence;
      const fact = item.kind === "event" ? factOf(item.topic, item.data) : "resync";
      counts.set(fact, (counts.get(fact) ?? 0) + 1);
      if (last >= Number(head)) break;
    }
    const lost = [...this.#facts].filter((fact) => !counts.has(fact));
    const twice = [...this.#facts].filter((fact) => (counts.get(fact) ?? 0) > 1);
    return [
      ...gaps,
      ...lost.map((fact) => `lost: ${fact}`),
      ...twice.map((fact) => `twice: ${fact}`),
    ];
  }
}

/** Where an event names the thing that it is about. */
const NAMES = [
  ["agent", "agentId"],
  ["lease", "taskId"],
  ["task", "id"],
  ["policy", "id"],
  ["report", "alias"],
  ["entry", "url"],
  ["job", "id"],
] as const;

type Fields = Readonly<Record<string, unknown>>;

function factOf(topic: string, data: Fields): string {
  const found = NAMES.find(([thing]) => isRecord(data[thing]));
  if (!found) return `${topic} ${String(data["taskId"])}`;
  const [thing, name] = found;
  return `${topic} ${String((data[thing] as Fields)[name])}`;
}
