/**
 * The tasks that wait, so that an agent finds the oldest one it has the tools for without looking
 * at those it has not.
 *
 * Tasks that need the same tools stand in one line, in order of arrival. A line is filed under the
 * first of its tools (in order of name): an agent can only take from lines filed under a tool that
 * it has, or from the line that needs none.
 *
 *          take               drop
 *   waits ──────▶ place kept ──────▶ gone
 *     ▲               │
 *     └── put back ───┘
 *
 * A claimed task keeps its place until its outcome is known: returned unworked, it goes back to
 * that place; failed, it joins at the end.
 */
import { Heap, type Slot } from "./heap.ts";

interface ToolsLine {
  readonly tools: readonly string[];
  /** A heap by order of arrival: what is claimed leaves from the middle as well. */
  readonly waiting: Heap<string>;
}

interface TaskPlace {
  readonly tools: readonly string[];
  /** In its line while it waits. */
  readonly slot: Slot<string>;
}

export class TaskQueue {
  /** In order of arrival, as maps are. */
  readonly #places = new Map<string, TaskPlace>();
  /** First tool ("" for none) → the line's tools as text → the line. */
  readonly #lines = new Map<string, Map<string, ToolsLine>>();
  #arrivals = 0;
  #waiting = 0;

  /** How many wait. */
  get size(): number {
    return this.#waiting;
  }

  /** At the end, wherever it was before; `requiredTools` in order of name, each once. */
  add(taskId: string, requiredTools: readonly string[]): void {
    this.drop(taskId);
    this.#arrivals += 1;
    const slot: Slot<string> = { at: this.#arrivals, value: taskId, place: -1 };
    this.#places.set(taskId, { tools: requiredTools, slot });
    this.putBack(taskId);
  }

  /** Out of the line; its place is kept. */
  take(taskId: string): void {
    const place = this.#places.get(taskId);
    if (!place || place.slot.place < 0) return;
    const { waiting } = this.#lineOf(place.tools);
    waiting.remove(place.slot);
    this.#waiting -= 1;
    if (waiting.size > 0) return;
    const filed = place.tools[0] ?? "";
    const lines = this.#lines.get(filed);
    lines?.delete(place.tools.join("\n"));
    if (lines?.size === 0) this.#lines.delete(filed);
  }

  /** Into the line again, where it was. */
  putBack(taskId: string): void {
    const place = this.#places.get(taskId);
    if (!place || place.slot.place >= 0) return;
    this.#lineOf(place.tools).waiting.move(place.slot, place.slot.at);
    this.#waiting += 1;
  }

  /** For good. */
  drop(taskId: string): void {
    this.take(taskId);
    this.#places.delete(taskId);
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

  /** All that have a place, in order of arrival: those that wait, and those taken out. */
  inOrder(): string[] {
    return [...this.#places.keys()];
  }

  /** The first waiting tasks: the lines are merged, without a look at claimed ones. */
  oldest(count: number): string[] {
    const heads = new Heap<{ readonly taskId: string; readonly line: Generator<string> }>();
    const reach = (line: Generator<string>) => {
      const taskId = line.next().value as string | undefined;
      const place = taskId === undefined ? undefined : this.#places.get(taskId);
      if (place) heads.add(place.slot.at, { taskId: place.slot.value, line });
    };
    for (const lines of this.#lines.values()) {
      for (const { waiting } of lines.values()) reach(waiting.inOrder());
    }
    const ids: string[] = [];
    while (ids.length < count) {
      const head = heads.takeDue(Infinity)?.value;
      if (!head) break;
      ids.push(head.taskId);
      reach(head.line);
    }
    return ids;
  }

  #lineOf(tools: readonly string[]): ToolsLine {
    const filed = tools[0] ?? "";
    let lines = this.#lines.get(filed);
    if (!lines) this.#lines.set(filed, (lines = new Map<string, ToolsLine>()));
    const name = tools.join("\n");
    let line = lines.get(name);
    if (!line) lines.set(name, (line = { tools, waiting: new Heap() }));
    return line;
  }
}
