import { unlinkSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { RollcallError } from "../../core/errors.ts";
import type { Report } from "../../core/reports.ts";
import { old, open } from "../../../test/support/files/reporter.ts";
import { writeTimestamp } from "./timestamp.ts";

test("a file that is dated ahead is reported as one of now", async () => {
  const { clock, told, write, says } = open();
  write({ runtime: { updated_at: writeTimestamp(clock.wallMs() + 3_600_000) } });
  await says({ liveness: { value: "alive" } });
  expect(told.at(-1)?.order).toBe(clock.wallMs());
});

test("a file whose times have microseconds is reported in whole milliseconds", async () => {
  const { write, told, clock, says } = open();
  const moment = writeTimestamp(clock.wallMs()).replace("Z", ".123456Z");
  const runtime = { updated_at: moment, last_activity_at: moment };
  write({ runtime, task: { state: "input-required", summary: "?", status_timestamp: moment } });
  await says({ question: { value: { text: "?" } } });
  expect(JSON.stringify(told)).not.toMatch(/\d\.\d/);
});

test("a clock that was set back makes no news old, nor does a restart then", async () => {
  const { clock, told, write, says } = open();
  write({ task: { state: "input-required", summary: "which?" } });
  await says({ question: { value: { text: "which?" } } });
  clock.stepWall(-3_600_000);
  const status = write({ task: { state: "working" } });
  await says({ activity: { value: "working" } });
  const again = open(told, [status]);
  await again.says({ activity: { value: "working" } });
  // The fleet's time does not fall: a report with a lower order counts as late there.
  const [first] = told;
  expect([...told, ...again.told].map(({ order }) => order)).toEqual(Array(3).fill(first?.order));
});

test("the card that a file names is named again while its agent is here", async () => {
  const { write, cards, clock, says, folder } = open();
  const a2a = { agent_card_url: "http://127.0.0.1:8001/.well-known/agent-card.json" };
  const named = { cardUrl: a2a.agent_card_url, name: "pi" };
  const status = write({ agent_name: "pi", a2a });
  await says({ liveness: { value: "alive" } });
  expect(cards).toEqual([named]);
  await clock.advance(30_000);
  expect(cards).toEqual([named, named]);
  unlinkSync(`${folder.path}/${status.agent_id}.json`);
  await says({ liveness: { value: "exited" } });
  await clock.advance(60_000);
  expect(cards).toHaveLength(2);
});

test("what an agent behind the ACP proxy is at is told with its step", async () => {
  const { write, says } = open();
  const acp = { current_task: "Step 2/5: Finding Rust files" };
  write({
    task: { state: "working", summary: "Reading codebase structure..." },
    x_meta: { rollcall: { activity: "reading", acp } },
  });
  const message = "Reading codebase structure...";
  await says({ activity: { value: "reading", message, task: acp.current_task } });
});

describe("an agent", () => {
  test("is told of as its file says", async () => {
    const { write, told, clock } = open();
    const since = writeTimestamp(clock.wallMs() - 5_000);
    write({
      agent_id: "claude-1",
      agent_name: "claude-code",
      runtime: { workspace: "/repo", pid: 7 },
      goal: { summary: "ship it", updated_at: since, source: "initial-prompt" },
      task: { state: "input-required", summary: "Allow rm?", status_timestamp: since },
      a2a: { agent_card_url: "http://127.0.0.1:9/card" },
      x_meta: {
        rollcall_agent_id: "team-1",
        rollcall: {
          question: { kind: "permission", text: "Allow Bash(rm)?", options: ["y", "n"] },
        },
      },
    });
    await vi.waitFor(() => expect(told).toHaveLength(1));
    expect(told[0]).toMatchObject({
      alias: "file@box:claude-1",
      agentId: "team-1",
      links: ["a2a:http://127.0.0.1:9/card"],
      facts: {
        name: "claude-code",
        workspace: "/repo",
        goal: "ship it",
        process: { pid: 7 },
        liveness: { value: "alive", rule: "its file is fresh" },
        activity: { value: "waiting" },
        question: {
          value: { kind: "permission", text: "Allow Bash(rm)?", options: ["y", "n"] },
          rule: "task.state is input-required",
        },
      },
    });
    expect(told[0]?.facts.question?.value.sinceMs).toBe(Date.parse(since));
  });

  test("whose process ends has exited within a second", async () => {
    const { write, says, process, clock, told } = open();
    write({ runtime: { pid: 7 }, task: { state: "working" } });
    await says({ liveness: { value: "alive" } });
    // Just after a look.
    await clock.advance(45_010);
    process.isThere = false;
    await clock.advance(1_000);
    await says({
      liveness: { value: "exited", rule: "process 7 is gone" },
      process: { hasEnded: true },
    });
    // Told of now, however old its file is: it is news.
    expect(told.at(-1)?.reportedAtMs).toBeGreaterThanOrEqual(clock.wallMs() - 2_000);
  });

  test("whose last words are read after its end is known by the process it had", async () => {
    const { write, says, process } = open();
    const { startedAtMs } = process;
    write({ runtime: { pid: 7 } });
    await says({ liveness: { value: "alive" }, process: { pid: 7, startedAtMs } });
    process.isThere = false;
    write({ runtime: { pid: 7 }, agent_name: "last words" });
    await says({ liveness: { value: "exited" }, process: { pid: 7, startedAtMs } });
  });

  test("whose number another process has now is not believed", async () => {
    const { write, says, process, clock } = open();
    process.startedAtMs = clock.wallMs() + 10_000;
    write({ runtime: { pid: 7 } });
    await says({ liveness: { value: "exited", rule: "process 7 is another one now" } });
  });

  test("whose number was given away while nobody looked is found out", async () => {
    const { write, says, process, clock } = open();
    write({ runtime: { pid: 7 } });
    await says({ liveness: { value: "alive" } });
    process.start = `${process.start}1`;
    await clock.advance(2_000);
    await says({ liveness: { value: "exited", rule: "process 7 is another one now" } });
  });

  test("is only the process that its file speaks for", async () => {
    const { write, says, process } = open();
    write({ runtime: { pid: 7 }, x_meta: { rollcall: { process: { pid: 7, start: "12" } } } });
    await says({ liveness: { value: "exited", rule: "process 7 is another one now" } });
    process.start = "12";
    const again = { rollcall: { process: { pid: 7, start: "12" } } };
    write({ runtime: { pid: 7 }, x_meta: again, task: { state: "working" } });
    await says({ liveness: { value: "alive", rule: "its file is fresh" } });
  });

  test("that falls silent is stale, unless its process is there", async () => {
    const { write, says, clock } = open();
    write();
    await says({ liveness: { value: "alive" } });
    await clock.advance(62_000);
    await says({ liveness: { value: "stale", rule: "its file is old" } });
    write({ runtime: { pid: 7 } });
    await says({ liveness: { value: "alive", rule: "its file is fresh" } });
    await clock.advance(62_000);
    await says({ liveness: { value: "alive", rule: "its file is old, but its process is there" } });
  });

  test("whose file is removed is gone, also while nobody looked", async () => {
    const before = old("old");
    const elsewhere = { ...before, alias: "file@other:old" };
    const { write, told, says, folder, clock } = open([before, elsewhere]);
    await vi.waitFor(() => expect(told.map(({ alias }) => alias)).toEqual(["file@box:old"]));
    expect(told[0]?.reportedAtMs).toBe(clock.wallMs());
    await says({ liveness: { value: "exited", rule: "its file is gone" } });
    write({ agent_id: "new" });
    await says({ liveness: { value: "alive" } });
    unlinkSync(`${folder.path}/new.json`);
    await says({ liveness: { value: "exited", rule: "its file is gone" } });
    expect(told.at(-1)?.alias).toBe("file@box:new");
  });

  test.each([
    ["reports fail", "isDown"],
    ["the records cannot be read", "isForgetful"],
  ] as const)(
    "whose file was removed while nobody looked is gone, also where %s at first",
    async (_, trouble) => {
      const { state, told, troubles, write, says, clock } = open([old("one"), old("two")]);
      state[trouble] = true;
      await vi.waitFor(() => expect(troubles).toHaveLength(1));
      await clock.advance(5_000);
      expect([told, troubles.length]).toEqual([[], 1]);
      state[trouble] = false;
      await clock.advance(1_500);
      await vi.waitFor(() => expect(told).toHaveLength(2));
      expect(told.map(({ alias }) => alias).toSorted()).toEqual(["file@box:one", "file@box:two"]);
      await says({ liveness: { value: "exited", rule: "its file is gone" } });
      write({ agent_id: "one" });
      await says({ liveness: { value: "alive" } });
      await clock.advance(30_000);
      expect(told).toHaveLength(3);
    },
  );

  test("whose end is refused for good keeps no other from its own", async () => {
    const { state, troubles, clock } = open([old("one"), old("two")]);
    state.refusal = new RollcallError("INVALID_ARGUMENT", "process.pid is -1");
    await vi.waitFor(() => expect(state.sent).toBe(2));
    await clock.advance(30_000);
    expect([state.sent, troubles.length]).toEqual([2, 1]);
  });

  test("whose file comes back before its end could be told is not gone", async () => {
    const { state, told, write, says, clock, troubles } = open([old("one")]);
    state.isDown = true;
    await vi.waitFor(() => expect(troubles).toHaveLength(1));
    state.isDown = false;
    write({ agent_id: "one" });
    await says({ liveness: { value: "alive" } });
    await clock.advance(30_000);
    expect(told).toHaveLength(1);
  });

  test("whose file goes before its process does is followed until that has ended", async () => {
    const { write, says, process, folder, clock, told } = open();
    const { startedAtMs } = process;
    const { agent_id } = write({ runtime: { pid: 7 } });
    await says({ liveness: { value: "alive" } });
    unlinkSync(`${folder.path}/${agent_id}.json`);
    await says({ liveness: { value: "exited", rule: "its file is gone" } });
    expect(told.at(-1)?.facts.process).toEqual({ pid: 7, startedAtMs });
    process.isThere = false;
    await clock.advance(2_000);
    await says({ liveness: { rule: "its file is gone" }, process: { hasEnded: true } });
    const count = told.length;
    await clock.advance(10_000);
    expect(told).toHaveLength(count);
  });

  test("is not proved to have ended by the process that has its number now", async () => {
    const { write, says, process, clock, told } = open();
    process.startedAtMs = clock.wallMs() + 10_000;
    write({ runtime: { pid: 7 } });
    await says({ process: { pid: 7, hasEnded: true } });
    expect(told.at(-1)?.facts.process).not.toHaveProperty("startedAtMs");
  });

  test("that could not be told of is told of later", async () => {
    const { write, told, says, state, troubles, clock } = open();
    write();
    await says({ liveness: { value: "alive" } });
    state.isDown = true;
    write({ task: { state: "working" } });
    await vi.waitFor(() => expect(troubles).toHaveLength(1));
    await clock.advance(30_000);
    expect(told).toHaveLength(1);
    expect(troubles).toEqual(["file@box:pi-1 was not reported"]);
    state.isDown = false;
    await vi.waitFor(async () => {
      await clock.advance(1_500);
      expect(told.at(-1)?.facts.activity?.value).toBe("working");
    });
  });
});

test("a file that is refused is complained about once for each change of it", async () => {
  const { write, state, troubles, told, process, clock } = open();
  state.refusal = new RollcallError("INVALID_ARGUMENT", "process.pid is -1");
  write({ runtime: { pid: 7 } });
  await vi.waitFor(() => expect(troubles).toHaveLength(1));
  // It is not sent again and again, but its end may be another matter.
  await clock.advance(60_000);
  expect(state.sent).toBe(1);
  process.isThere = false;
  await clock.advance(60_000);
  expect(state.sent).toBe(2);
  expect(troubles).toHaveLength(1);
  write({ runtime: { pid: 7 }, task: { state: "working" } });
  await vi.waitFor(() => expect(troubles).toHaveLength(2));
  expect(told).toEqual([]);
});

test("a question keeps its time while its file is written again and again", async () => {
  const { write, told, clock, says } = open();
  write({ task: { state: "input-required", summary: "which?" } });
  await says({ question: { value: { text: "which?" } } });
  await clock.advance(20_000);
  write({ task: { state: "input-required", summary: "which?" } });
  await vi.waitFor(() => expect(told).toHaveLength(2));
  const [first, second] = told.map(({ facts }) => facts.question?.value.sinceMs);
  expect(second).toBe(first);
});

test("a question and an outcome keep their time over a restart of who looks", async () => {
  const first = open();
  const asks = { agent_id: "asks", task: { state: "input-required", summary: "?" } } as const;
  const done = { agent_id: "done", task: { state: "failed", summary: "no" } } as const;
  first.write(asks);
  first.write(done);
  await vi.waitFor(() => expect(first.told).toHaveLength(2));
  const runtime = { updated_at: writeTimestamp(first.clock.wallMs() + 20_000) };
  const again = open(first.told, [
    { ...asks, runtime },
    { ...done, runtime },
  ]);
  await vi.waitFor(() => expect(again.told).toHaveLength(2));
  const factsOf = (told: readonly Report[]) =>
    Object.fromEntries(told.map(({ alias, facts }) => [alias, [facts.question, facts.outcome]]));
  expect(factsOf(again.told)).toEqual(factsOf(first.told));
});

test("text that would do harm on a terminal comes out harmless", async () => {
  const { write, says } = open();
  write({ agent_name: "\u001b[31mred", task: { state: "working", summary: "a\u0007b\nc" } });
  await says({ name: " [31mred", activity: { message: "a b\nc" } });
});
