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

test("what was taken out of the middle is never given", () => {
  const queue = new TaskQueue();
  for (const id of ["a", "b", "c"]) queue.add(id, []);
  queue.delete("b");
  queue.delete("b");
  queue.delete("unknown");
  expect(queue.inOrder()).toEqual(["a", "c"]);
  queue.delete("a");
  queue.delete("c");
  expect(queue.firstFor(TOOLS)).toBeUndefined();
  expect(queue.size).toBe(0);
});

const anAct = oneof(
  record({ act: constantFrom("add"), tools: subarray(TOOLS) }),
  record({ act: constantFrom("delete"), at: nat(30) }),
  record({ act: constantFrom("back"), at: nat(30) }),
);

test("it finds what looking at every task would find", () => {
  assert(
    property(array(anAct, { maxLength: 60 }), array(subarray(TOOLS)), (acts, agents) => {
      const queue = new TaskQueue();
      const model: { id: string; tools: readonly string[] }[] = [];
      for (const [i, act] of acts.entries()) {
        if ("tools" in act) {
          model.push({ id: `t${i}`, tools: act.tools.toSorted() });
          queue.add(`t${i}`, act.tools.toSorted());
          continue;
        }
        const [task] = model.splice(act.at % (model.length || 1), 1);
        if (!task) continue;
        queue.delete(task.id);
        if (act.act === "delete") continue;
        model.push(task);
        queue.add(task.id, task.tools);
      }
      expect(queue.inOrder()).toEqual(model.map(({ id }) => id));
      expect(queue.oldest(3)).toEqual(model.slice(0, 3).map(({ id }) => id));
      expect(queue.size).toBe(model.length);
      for (const has of agents) {
        const first = model.find(({ tools }) => tools.every((tool) => has.includes(tool)));
        expect(queue.firstFor(has)).toBe(first?.id);
      }
    }),
  );
});
