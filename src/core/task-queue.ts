/**
 * The tasks that wait, so that an agent finds the oldest one it has the tools for without looking
 * at those it has not.
 *
 * Tasks that need the same tools stand in one line, in order of arrival. A line is filed under the
 * first of its tools (in order of name): an agent can only take from lines filed under a tool that
 * it has, or from the line that needs none.
 */
import { Heap, type Slot } from "./heap.ts";

interface Line {
  readonly tools: readonly string[];
  /** A heap by order of arrival: what is claimed leaves from the middle as well. */
  readonly waiting: Heap<string>;
}

interface Place {
  readonly line: Line;
  readonly slot: Slot<string>;
}

export class TaskQueue {
  readonly #places = new Map<string, Place>();
  /** First tool ("" for none) → the line's tools as text → the line. */
  readonly #lines = new Map<string, Map<string, Line>>();
  #arrivals = 0;

  get size(): number {
    return this.#places.size;
  }

  /** `requiredTools` in order of name, each once. */
  add(taskId: string, requiredTools: readonly string[]): void {
    const filed = requiredTools[0] ?? "";
    let lines = this.#lines.get(filed);
    if (!lines) this.#lines.set(filed, (lines = new Map<string, Line>()));
    const name = requiredTools.join("\n");
    let line = lines.get(name);
    if (!line) lines.set(name, (line = { tools: requiredTools, waiting: new Heap() }));
    this.#arrivals += 1;
    this.#places.set(taskId, { line, slot: line.waiting.add(this.#arrivals, taskId) });
  }

  delete(taskId: string): void {
    const place = this.#places.get(taskId);
    if (!place) return;
    this.#places.delete(taskId);
    const { line, slot } = place;
    line.waiting.remove(slot);
    if (line.waiting.size > 0) return;
    const filed = line.tools[0] ?? "";
    const lines = this.#lines.get(filed);
    lines?.delete(line.tools.join("\n"));
    if (lines?.size === 0) this.#lines.delete(filed);
  }

  /** The task that has waited longest of those that need no other tools than these. */
  firstFor(tools: readonly string[]): string | undefined {
    const has = new Set(tools);
    let first: Heap<string> | undefined;
    for (const filed of ["", ...has]) {
      for (const { tools: needed, waiting } of this.#lines.get(filed)?.values() ?? []) {
        if (!needed.every((tool) => has.has(tool))) continue;
        if ((waiting.nextAt() ?? Infinity) < (first?.nextAt() ?? Infinity)) first = waiting;
      }
    }
    return first?.first();
  }

  /** All that wait, in order of arrival, which is the order a map keeps its keys in. */
  inOrder(): string[] {
    return [...this.#places.keys()];
  }

  /** The first of them. */
  oldest(count: number): string[] {
    const ids: string[] = [];
    for (const taskId of this.#places.keys()) {
      if (ids.length >= count) break;
      ids.push(taskId);
    }
    return ids;
  }
}
