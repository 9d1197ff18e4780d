import { expect, test } from "vitest";
import { RollcallError } from "../core/errors.ts";
import type { Forwarder } from "./forward.ts";
import { Relay } from "./relay.ts";

interface Asked {
  readonly leader: string;
  readonly answer: (head: number) => void;
  readonly fail: (error: Error) => void;
}

/** A way to the leader whose barriers are answered by hand. */
function slowWay() {
  const asked: Asked[] = [];
  let leader = "a";
  const forwarder: Forwarder = {
    execute: () => Promise.reject(new Error("no commands here")),
    barrier: (to) =>
      new Promise((answer, fail) => {
        asked.push({ leader: to, answer, fail });
      }),
    beat: async () => [],
  };
  const relay = new Relay({ forwarder, leader: () => leader });
  const elect = (node: string) => (leader = node);
  return { relay, asked, elect };
}

test("a thousand reads share two barriers, and none uses one from before it came", async () => {
  const { relay, asked } = slowWay();
  const first = relay.barrier();
  const others = Array.from({ length: 999 }, () => relay.barrier());
  expect(asked).toHaveLength(1);
  asked[0]?.answer(7);
  expect(await first).toBe(7);
  expect(asked).toHaveLength(2);
  asked[1]?.answer(9);
  expect(new Set(await Promise.all(others))).toEqual(new Set([9]));
  void relay.barrier();
  expect(asked).toHaveLength(3);
});

test("a barrier that fails takes along its own reads, not those that came later", async () => {
  const { relay, asked } = slowWay();
  const first = relay.barrier();
  const later = relay.barrier();
  asked[0]?.fail(new RollcallError("UNAVAILABLE", "gone"));
  await expect(first).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.answer(3);
  expect(await later).toBe(3);
});

test("when another node leads nobody waits for the answer of the one before", async () => {
  const { relay, asked, elect } = slowWay();
  const old = relay.barrier();
  elect("b");
  const now = relay.barrier();
  expect(asked.map(({ leader }) => leader)).toEqual(["a", "b"]);
  asked[1]?.answer(5);
  expect(await now).toBe(5);
  asked[0]?.answer(4);
  expect(await old).toBe(4);
});
