import { array, assert, constantFrom, nat, oneof, property, record, subarray } from "fast-check";
import { expect, test } from "vitest";
import { TaskQueue } from "./task-queue.ts";

const TOOLS = ["browser", "shell", "sql", "vision"];

test("each agent gets the oldest task it has the tools for", () => {
  const queue = new TaskQueue();
  queue.add("needs both", ["browser", "shell"]);
  queue.add("needs shell", ["shell"]);
  queue.add("needs nothing", []);
  expect(queue.firstFor(["shell", "browser"])).toBe("needs both");
  expect(queue.firstFor(["shell"])).toBe("needs shell");
  expect(queue.firstFor([])).toBe("needs nothing");
  expect(queue.firstFor(["vision"])).toBe("needs nothing");
});

test("what was taken out goes back to its old place, also past others that went back", () => {
  const queue = new TaskQueue();
  for (const id of ["a", "b", "c"]) queue.add(id, []);
  queue.take("a");
  queue.take("b");
  queue.take("b");
  expect([queue.firstFor([]), queue.size]).toEqual(["c", 1]);
  queue.putBack("a");
  queue.putBack("b");
  queue.putBack("b");
  expect([queue.firstFor([]), queue.size]).toEqual(["a", 3]);
  queue.drop("a");
  queue.putBack("a");
  expect([queue.firstFor([]), queue.size]).toEqual(["b", 2]);
});

test("what was taken out of the middle is never given", () => {
  const queue = new TaskQueue();
  for (const id of ["a", "b", "c"]) queue.add(id, []);
  queue.drop("b");
  queue.drop("b");
  queue.drop("unknown");
  expect(queue.inOrder()).toEqual(["a", "c"]);
  queue.drop("a");
  queue.drop("c");
  expect(queue.firstFor(TOOLS)).toBeUndefined();
  expect(queue.size).toBe(0);
});

const anAct = oneof(
  record({ act: constantFrom("add"), tools: subarray(TOOLS) }),
  record({ act: constantFrom("drop"), at: nat(30) }),
  record({ act: constantFrom("again"), at: nat(30) }),
  record({ act: constantFrom("take"), at: nat(30) }),
  record({ act: constantFrom("put back"), at: nat(30) }),
);

test("it finds what looking at every task would find", () => {
  assert(
    property(array(anAct, { maxLength: 60 }), array(subarray(TOOLS)), (acts, agents) => {
      const queue = new TaskQueue();
      const model: { readonly id: string; readonly tools: string[]; waits: boolean }[] = [];
      for (const [i, act] of acts.entries()) {
        if ("tools" in act) {
          model.push({ id: `t${i}`, tools: act.tools.toSorted(), waits: true });
          queue.add(`t${i}`, act.tools.toSorted());
          continue;
        }
        const at = act.at % (model.length || 1);
        const task = model[at];
        if (!task) continue;
        switch (act.act) {
          case "drop":
            model.splice(at, 1);
            queue.drop(task.id);
            break;
          case "again":
            model.push({ ...task, waits: true });
            model.splice(at, 1);
            queue.add(task.id, task.tools);
            break;
          case "take":
            task.waits = false;
            queue.take(task.id);
            break;
          case "put back":
            task.waits = true;
            queue.putBack(task.id);
        }
      }
      expect(queue.inOrder()).toEqual(model.map(({ id }) => id));
      const waiting = model.filter(({ waits }) => waits);
      expect(queue.oldest(3)).toEqual(waiting.slice(0, 3).map(({ id }) => id));
      expect(queue.size).toBe(waiting.length);
      for (const has of agents) {
        const first = waiting.find(({ tools }) => tools.every((tool) => has.includes(tool)));
        expect(queue.firstFor(has)).toBe(first?.id);
      }
    }),
  );
});
