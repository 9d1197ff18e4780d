import { expect, test } from "vitest";
import type { Facts } from "../../core/reports.ts";
import { HostNames } from "./names.ts";
import { isExcluded, sharedFacts, type SharePolicy } from "./policy.ts";

const POLICY: SharePolicy = { share: "questions", accept: "answers", exclude: [], redact: [] };

const FACTS: Facts = {
  name: "claude",
  goal: "deploy with --token abc123secret",
  liveness: { value: "alive", rule: "r" },
  activity: { value: "working", rule: "r", message: "rm -rf build", task: "Step 1" },
  question: {
    rule: "r",
    value: { kind: "permission", text: "run rm -rf build?", options: ["yes"], sinceMs: 1 },
  },
  outcome: { value: "failed", rule: "r", text: "exit 1", atMs: 2 },
};

test("status says that something is asked, and not what", () => {
  const shared = sharedFacts(FACTS, { ...POLICY, share: "status" });
  expect(shared.question?.value).toEqual({ kind: "permission", text: "", sinceMs: 1 });
  expect(shared.activity?.message).toBe("rm -rf build");
  expect(shared.outcome).toEqual({ value: "failed", rule: "r", atMs: 2 });
});

test("questions have their words, and what came of work is for those that share all", () => {
  expect(sharedFacts(FACTS, POLICY).question).toEqual(FACTS.question);
  expect(sharedFacts(FACTS, POLICY).outcome?.text).toBeUndefined();
  expect(sharedFacts(FACTS, { ...POLICY, share: "all" }).outcome?.text).toBe("exit 1");
});

test("goals and commands can be left out, wherever they stand", () => {
  const shared = sharedFacts(FACTS, { ...POLICY, share: "all", redact: ["goals", "commands"] });
  expect(JSON.stringify(shared)).not.toMatch(/deploy|rm -rf/);
});

test("what looks like a secret never leaves", () => {
  const shared = sharedFacts(FACTS, { ...POLICY, share: "all" });
  expect(shared.goal).toBe("deploy with --token ***");
});

test.each([
  ["/home/me/private", true],
  ["/home/me/private/deep/er", true],
  ["/home/me/private-not", false],
  ["/srv/client-a/x", true],
  ["/srv/other", false],
])("of the workspace %s nothing leaves: %s", (workspace, isIt) => {
  const exclude = ["/home/me/private", "/srv/client-*"];
  expect(isExcluded({ ...POLICY, exclude }, workspace)).toBe(isIt);
});

test.each([
  ["file@laptop:a", "file@box:a"],
  ["acp:7f", "acp@box:7f"],
  ["script@other:a", "script@box:other:a"],
  ["keeper:http://x", "keeper@box:http://x"],
])("the alias %s is %s to the team", (alias, told) => {
  expect(new HostNames("box", ["laptop"]).alias(alias)).toBe(told);
});

test.each([
  ["nightly", "nightly@box"],
  ["arcp@laptop:echo", "arcp@box:echo"],
  ["nightly@inner", "nightly@inner@box"],
])("the agent %s is %s to the team", (agentId, told) => {
  expect(new HostNames("box", ["laptop"]).agent(agentId)).toBe(told);
});
