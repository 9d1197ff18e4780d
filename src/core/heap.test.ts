import { array, assert, constantFrom, nat, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { earliest, Heap, type Slot } from "./heap.ts";

test("what stands first comes first, and only once it is due", () => {
  const heap = new Heap<string>();
  heap.add(20, "second");
  heap.add(10, "first");
  expect(heap.nextAt()).toBe(10);
  expect(heap.first()).toBe("first");
  expect(heap.takeDue(9)).toBeUndefined();
  expect(heap.takeDue(10)?.value).toBe("first");
  expect(heap.takeDue(30)?.value).toBe("second");
  expect(heap.takeDue(Infinity)).toBeUndefined();
  expect([heap.size, heap.nextAt(), heap.first()]).toEqual([0, undefined, undefined]);
});

test("a slot that was taken can be put back, one that is in none can be removed", () => {
  const heap = new Heap<string>();
  const slot = heap.add(1, "a");
  heap.remove(slot);
  heap.remove(slot);
  expect(slot.place).toBe(-1);
  heap.move(slot, 5);
  expect([heap.size, heap.nextAt()]).toEqual([1, 5]);
  heap.move(slot, 3);
  expect([heap.size, heap.nextAt()]).toEqual([1, 3]);
});

const anAct = tuple(constantFrom("add", "move", "remove", "take"), nat(20), nat(50));

test("it behaves like a list that is sorted anew after every change", () => {
  assert(
    property(array(anAct, { maxLength: 100, size: "max" }), (acts) => {
      const heap = new Heap<number>();
      const slots: Slot<number>[] = [];
      const model = new Map<number, number>();
      for (const [act, which, at] of acts) {
        const slot = slots[which % (slots.length || 1)];
        if (act === "add" || !slot) {
          slots.push(heap.add(at, slots.length));
          model.set(slots.length - 1, at);
        } else if (act === "move") {
          heap.move(slot, at);
          model.set(slot.value, at);
        } else if (act === "remove") {
          heap.remove(slot);
          model.delete(slot.value);
        } else {
          const taken = heap.takeDue(at);
          const least = Math.min(...model.values());
          expect(taken?.at).toBe(least <= at ? least : undefined);
          if (taken) expect(model.delete(taken.value)).toBe(true);
        }
        expect(heap.size).toBe(model.size);
        expect(heap.nextAt()).toBe(earliest(...model.values()));
        expect(slots.filter(({ place }) => place >= 0)).toHaveLength(model.size);
      }
      const inOrder = Array.from(heap.inOrder(), (value) => model.get(value));
      expect(inOrder).toEqual([...model.values()].toSorted((a, b) => a - b));
    }),
    { numRuns: 50 },
  );
});

test("the earliest of several moments ignores those that are not there", () => {
  expect(earliest()).toBeUndefined();
  expect(earliest(undefined, undefined)).toBeUndefined();
  expect(earliest(undefined, 3, 2, undefined, 4)).toBe(2);
  expect(earliest(0, undefined)).toBe(0);
});
