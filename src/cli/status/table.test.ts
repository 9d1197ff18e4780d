import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import type { StatusReading } from "../../wires/files/read.ts";
import { NOW_MS, statusOf } from "../../../test/support/files/fixture.ts";
import { timestampMs } from "../../wires/files/timestamp.ts";
import { HEADLINES } from "../../fleet/headline.ts";
import { summary } from "../fleet/look.ts";
import type { BoxLook } from "../terminal/box.ts";
import { Output } from "../terminal/output.ts";
import { widthOf } from "../terminal/width.ts";
import { agentsOf, type StatusAgents } from "./agents.ts";
import { table } from "./table.ts";

const painter = new Output({ write: () => true }, {});

function look(width: number, isAscii: boolean): BoxLook {
  return { width, isAscii, paint: (style, text) => painter.paint(style, text) };
}

type Changes = Parameters<typeof statusOf>[0];

function reading(
  changes: Changes,
  oddities: readonly ("ahead" | "misnamed")[] = [],
): StatusReading {
  const status = statusOf(changes);
  const updatedAtMs = Math.min(timestampMs(status.runtime.updated_at), NOW_MS);
  return { kind: "status", path: `/d/${status.agent_id}.json`, status, updatedAtMs, oddities };
}

function agents(readings: readonly StatusReading[], needsMe = false): StatusAgents {
  return agentsOf(readings, { staleAfterMs: 60_000, needsMe }, NOW_MS);
}

const FLEET = [
  reading({
    agent_id: "claude-7d5d6ca5e54c44cfb9e8",
    agent_name: "claude-code",
    runtime: { workspace: "/src/a/rather/deep/place/of/the/project" },
    goal: {
      summary: "Make the scheduler fair under load",
      updated_at: "2026-06-20T16:00:00Z",
      source: "initial-prompt",
    },
    task: { state: "input-required", summary: "Shall I drop the table?" },
  }),
  reading({ agent_id: "日本語", task: { state: "working", summary: "日本語で書く" } }),
  reading({ agent_id: "quiet" }),
  reading({ agent_id: "gone", runtime: { updated_at: "2026-06-20T14:45:00Z" } }),
];

describe("the table", () => {
  test("shows each agent with its goal, place and task", () => {
    const [title, ...lines] = table(agents(FLEET), look(90, true));
    expect(title).toBe(`${hostname()}  ·  4 agents  ·  1 needs you · 1 working · 2 idle`);
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "+-----------------------------+-----------------------------+------------------+---------+
      | TASK                        | AGENT ID                    | STATE            | UPDATED |
      |-----------------------------+-----------------------------+------------------+---------|
      | Make the scheduler fair un… | claude-7d5d6ca5e54c44cfb9e8 | ? input-required | 0s ago  |
      | …/deep/place/of/the/project |                             |                  |         |
      | ▸ Shall I drop the table?   |                             |                  |         |
      | ▸ 日本語で書く              | 日本語                      | ● working        | 0s ago  |
      | –                           | quiet                       | ○ idle           | 0s ago  |
      | –                           | gone                        | ◌ stale          | 2h ago  |
      +-----------------------------+-----------------------------+------------------+---------+"
    `);
  });

  test.each([40, 60, 80, 100, 140, 200])(
    "in %i columns every line is as wide as the others",
    (columns) => {
      const [, ...lines] = table(agents(FLEET), look(columns, false));
      const widths = new Set(lines.map(widthOf));
      expect(widths.size).toBe(1);
      if (columns >= 80) expect([...widths][0]).toBeLessThanOrEqual(columns);
    },
  );

  test("in a pipe nothing is cut", () => {
    const text = table(agents(FLEET), look(Infinity, true)).join("\n");
    expect(text).toContain("claude-7d5d6ca5e54c44cfb9e8");
    expect(text).not.toContain("…");
  });

  test("no field of a status reaches the terminal with an escape in it", () => {
    const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\nnext";
    const hostile = reading({
      agent_id: evil,
      agent_name: evil,
      runtime: { workspace: evil },
      goal: { summary: evil, updated_at: "2026-06-20T16:00:00Z", source: "initial-prompt" },
      task: { state: "working", summary: evil, id: evil },
    });
    const lines = table(agents([hostile]), look(100, false));
    expect(lines.join("")).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  test("one whose process is gone is gone, whatever its state was", () => {
    const dead = reading({ runtime: { pid: 2 ** 22 + 1 }, task: { state: "working" } });
    const [title, ...lines] = table(agents([dead]), look(100, true));
    expect(title).toContain("1 gone");
    expect(lines.join("\n")).toContain("| ■ gone | 0s ago");
  });

  test("a time in the future is marked", () => {
    const early = reading({ runtime: { updated_at: "2029-01-01T00:00:00Z" } }, ["ahead"]);
    expect(table(agents([early]), look(100, true)).join()).toContain("0s ago !");
  });

  test("without agents it is one line", () => {
    expect(table(agents([]), look(80, true))).toEqual([`${hostname()}  ·  0 agents`]);
  });
});

test("in one line: who needs you first, nothing that is not there", () => {
  expect(summary(agents([...FLEET, FLEET[0] ?? reading({})]), painter, HEADLINES)).toBe(
    "2 need you · 1 working · 2 idle",
  );
  expect(summary(agents([]), painter, HEADLINES)).toBe("");
});

test("asked who needs me, the others are counted and not shown", () => {
  const mine = agents(FLEET, true);
  expect(mine.rows.map(({ file }) => file.status.agent_name)).toEqual(["claude-code"]);
  expect(mine.counts.WORKING).toBe(1);
});

test("each file that is not what it should be gets one warning, in the peer's words", () => {
  const readings: readonly StatusReading[] = [
    { kind: "refused", path: "/d/a.json", reason: "json", problems: ["Extra data: line 1"] },
    { kind: "refused", path: "/d/b.json", reason: "status", problems: ["one", "two"] },
    { kind: "refused", path: "/d/c\u001b[31m.json", reason: "unreadable", problems: ["is a link"] },
    reading({ runtime: { updated_at: "2026-06-20T18:45:00Z" } }, ["misnamed", "ahead"]),
    reading({}),
  ];
  expect(agents(readings).warnings).toEqual([
    "warning: ignored invalid JSON /d/a.json: Extra data: line 1",
    "warning: ignored invalid status /d/b.json: one; two",
    "warning: ignored unreadable /d/c.json: is a link",
    'warning: /d/pi-1.json says that its agent_id is "pi-1" and is dated ' +
      "2026-06-20T18:45:00Z, ahead of this machine's clock",
  ]);
});
