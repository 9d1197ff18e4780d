import { expect, test } from "vitest";
import { entriesOf } from "./program.ts";
import { PROGRAM } from "./tree.ts";
import { normalise } from "./words.ts";

test.each([
  ["", ""],
  ["events --json", "events --json"],
  ["--url http://x events --json", "events --url http://x --json"],
  ["--url=http://x events", "events --url=http://x"],
  ["--version", "version"],
  ["-V --json", "version --json"],
  ["help events", "events --help"],
  ["help", "--help"],
  ["bogus events", "bogus events"],
  ["--help", "--help"],
  ["agents", "agents list"],
  ["agents --json", "agents list --json"],
  ["agents get x", "agents get x"],
  ["agents --help", "agents --help"],
  ["help agents", "agents --help"],
  ["help agents get", "agents get --help"],
  ["agents nonsense", "agents nonsense"],
  ["--url http://x agents", "agents list --url http://x"],
  ["--url http://x agents get y --json", "agents get --url http://x y --json"],
  ["tasks --type get", "tasks list --type get"],
  ["at 14:03 ls --needs-me", "ls --at 14:03 --needs-me"],
  ["at yesterday 14:03 inbox", "inbox --at yesterday 14:03"],
  ["--url X at 10m ago explain claude", "explain --url X --at 10m ago claude"],
  ["at 14:03 jobs", "jobs list --at 14:03"],
  ["at 14:03 jobs --json", "jobs list --at 14:03 --json"],
  ["--url X at 10m ago jobs ls --agent echo", "jobs list --url X --at 10m ago --agent echo"],
  ["at 14:03 tasks", "at 14:03 tasks"],
  ["agents ls --json", "agents list --json"],
  ["jobs ls", "jobs list"],
  ["help jobs ls", "jobs list --help"],
  ["policies rm x", "policies delete x"],
  ["directory rm x", "directory delete x"],
  ["agents delete web-1", "agents deregister web-1"],
  ["leases rm deploy", "leases release deploy"],
  ["jobs stop x", "jobs cancel x"],
  ["tasks rm x", "tasks rm x"],
  ["at ls", "at ls"],
  ["at --help", "at --help"],
])("`rollcall %s` is `rollcall %s`", (typed, meant) => {
  const words = typed.split(" ").filter(Boolean);
  expect(normalise(words, PROGRAM).join(" ")).toBe(meant);
});

test("every command has its module, and says what it does", async () => {
  const leaves = Object.entries(entriesOf(PROGRAM)).flatMap(([name, entry]) =>
    "commands" in entry
      ? Object.entries(entry.commands).map(([each, leaf]) => [`${name} ${each}`, leaf] as const)
      : [[name, entry] as const],
  );
  expect(leaves.length).toBeGreaterThan(25);
  for (const [name, leaf] of leaves) {
    const target = await leaf.load();
    expect(`${name}: ${target.fullDescription}`).toMatch(/: [A-Z].*\./s);
  }
});

test("every group has the command that it is alone", () => {
  for (const [name, entry] of Object.entries(entriesOf(PROGRAM))) {
    const names = "commands" in entry ? Object.keys(entry.commands) : [];
    expect([name, ...names]).toContain("commands" in entry ? entry.usual : name);
  }
});
