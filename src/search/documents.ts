/**
 * The index: one document per agent that is not dead, ranked by how alike its vector is to
 * the query's, plus a little for shared words (BM25 weighs 0.02: enough for an exact name to win,
 * too little for a chance word to). Tools are no matter of rank: an agent has them or is left out.
 *
 * A document has a slot, its place in all arrays. The dead leave theirs empty; once more slots are
 * empty than taken, all move together.
 */
import type { Agent, AgentCard } from "../core/agents.ts";
import { SEARCH } from "./limits.ts";
import { Top } from "./top.ts";
import { Vectors } from "./vectors.ts";
import { WordIndex } from "./word-index.ts";

const WORD_WEIGHT = 0.02;

interface Document {
  readonly agentId: string;
  readonly tools: readonly string[];
  isAlive: boolean;
}

export interface RankQuery {
  readonly query: string;
  /** The query's vector; absent when it could not be made, and words must do. */
  readonly vector?: Float32Array | undefined;
  /** All of them. */
  readonly tools: readonly string[];
  readonly limit: number;
}

export class Documents {
  #slots: (Document | undefined)[] = [];
  readonly #slotOf = new Map<string, number>();
  readonly #words = new WordIndex();
  readonly #vectors = new Vectors();
  readonly #withTool = new Map<string, Set<string>>();

  get size(): number {
    return this.#slotOf.size;
  }

  get agentIds(): Iterable<string> {
    return this.#slotOf.keys();
  }

  has(agentId: string): boolean {
    return this.#slotOf.has(agentId);
  }

  add({ agentId, card, status }: Pick<Agent, "agentId" | "card" | "status">): void {
    if (this.#slotOf.has(agentId)) return;
    this.#slotOf.set(agentId, this.#slots.length);
    this.#slots.push({ agentId, tools: card.tools, isAlive: status === "alive" });
    this.#words.add(textOf(card));
    for (const tool of card.tools) {
      const agents = this.#withTool.get(tool);
      if (agents) agents.add(agentId);
      else this.#withTool.set(tool, new Set([agentId]));
    }
  }

  setAlive(agentId: string, isAlive: boolean): void {
    const document = this.#slots[this.#slotOf.get(agentId) ?? -1];
    if (document) document.isAlive = isAlive;
  }

  setVector(agentId: string, vector: Float32Array): void {
    const slot = this.#slotOf.get(agentId);
    if (slot !== undefined) this.#vectors.set(slot, vector);
  }

  remove(agentId: string): void {
    const slot = this.#slotOf.get(agentId);
    if (slot === undefined) return;
    for (const tool of this.#slots[slot]?.tools ?? []) {
      const agents = this.#withTool.get(tool);
      agents?.delete(agentId);
      if (agents?.size === 0) this.#withTool.delete(tool);
    }
    this.#slotOf.delete(agentId);
    this.#slots[slot] = undefined;
    const empty = this.#slots.length - this.#slotOf.size;
    if (empty > SEARCH.emptySlots && empty > this.#slotOf.size) this.#pack();
  }

  /** The living with all these tools. */
  *withTools(tools: readonly string[]): Generator<string> {
    for (const slot of this.#matching(tools)) {
      const document = this.#slots[slot];
      if (document?.isAlive) yield document.agentId;
    }
  }

  /** The ids of those that fit best, best first. */
  rank({ query, vector, tools, limit }: RankQuery): string[] {
    const scores = new Float32Array(this.#slots.length);
    if (vector) this.#vectors.score(vector, scores);
    this.#words.score(query, WORD_WEIGHT, scores);
    const top = new Top(limit);
    for (const slot of this.#matching(tools)) {
      if (this.#slots[slot]?.isAlive) top.offer(slot, scores[slot] ?? 0);
    }
    return top.sorted().flatMap((slot) => this.#slots[slot]?.agentId ?? []);
  }

  *#matching(tools: readonly string[]): Generator<number> {
    if (tools.length === 0) {
      yield* this.#slotOf.values();
      return;
    }
    const sets = tools.map((tool) => this.#withTool.get(tool) ?? NOBODY);
    const [rarest = NOBODY, ...others] = sets.toSorted((a, b) => a.size - b.size);
    for (const agentId of rarest) {
      const slot = this.#slotOf.get(agentId);
      if (slot !== undefined && others.every((set) => set.has(agentId))) yield slot;
    }
  }

  #pack(): void {
    const moved = new Int32Array(this.#slots.length).fill(-1);
    const kept: Document[] = [];
    for (const [slot, document] of this.#slots.entries()) {
      if (!document) continue;
      moved[slot] = kept.length;
      this.#slotOf.set(document.agentId, kept.length);
      kept.push(document);
    }
    this.#slots = kept;
    this.#words.pack(moved);
    this.#vectors.pack(moved);
  }
}

const NOBODY: ReadonlySet<string> = new Set();

/** The card of an agent as one text of bounded length. */
export function textOf({ name, description, capabilities, tools }: AgentCard): string {
  const abilities = capabilities.map((each) => `${each.name}: ${each.description}`);
  const all = [name, description, ...abilities, tools.join(" ")].filter(Boolean).join("\n");
  return all.slice(0, SEARCH.textLength);
}
