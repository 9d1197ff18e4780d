import { expect, test } from "vitest";
import { RollcallError } from "../core/errors.ts";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { rowOf, type Row } from "./row.ts";
import { FleetView } from "./view.ts";

/** Tells that something happened, until it is cut. */
class Wire {
  #settle: (items: readonly never[] | Error) => void = () => undefined;
  isClosed = false;

  pull(): Promise<readonly never[]> {
    return new Promise((resolve, reject) => {
      this.#settle = (items) => (items instanceof Error ? reject(items) : resolve(items));
    });
  }

  happened(): void {
    this.#settle(["something"] as unknown as readonly never[]);
  }

  cut(): void {
    this.#settle(new RollcallError("SLOW_CONSUMER", "too far behind"));
  }

  close(): void {
    this.isClosed = true;
    this.#settle([]);
  }
}

function row(goal: string): Row {
  const liveness = { value: "alive", rule: "it is here" } as const;
  const about = { alias: "test:a", agentId: "a", links: [], order: 1, reportedAtMs: 1 };
  return rowOf(
    { id: "a", sources: [{ ...about, facts: { liveness, goal } }] },
    { nowMs: 1, patience: {} },
  );
}

test("a view whose watch was cut listens again, and sees the next change at once", async () => {
  const clock = new TestClock();
  const wires: Wire[] = [];
  let rows = [row("first")];
  const engine = {
    head: 0,
    watch() {
      const wire = new Wire();
      wires.push(wire);
      return wire;
    },
  };
  const view = new FleetView({ engine, clock, rows: async () => ({ rows, sequence: 0, atMs: 0 }) });
  const abort = new AbortController();
  const changes = view.changes(abort.signal);
  const next = async () => {
    const pending = changes.next();
    await clock.advance(200);
    return (await pending).value?.rows.map(({ goal }) => goal);
  };
  expect(await next()).toEqual(["first"]);
  rows = [row("second")];
  wires[0]?.cut();
  expect(await next()).toEqual(["second"]);
  rows = [row("third")];
  wires[1]?.happened();
  expect(await next()).toEqual(["third"]);
  const ended = changes.next();
  abort.abort();
  await ended;
  expect(wires.map(({ isClosed }) => isClosed)).toEqual([false, true]);
  expect(clock.timers).toBe(0);
});
