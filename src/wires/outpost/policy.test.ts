import { expect, test } from "vitest";
import type { Facts } from "../../core/reports.ts";
import { HostNames } from "./names.ts";
import { SHARES } from "../../core/outposts.ts";
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

test("what looks like a secret leaves in no field, whatever is shared", () => {
  const secret = "ghp_0123456789abcdef0123456789abcdef0123";
  const words = { rule: secret, text: secret };
  const facts: Facts = {
    name: secret,
    workspace: `/src/${secret}`,
    goal: secret,
    liveness: { value: "alive", rule: secret },
    activity: { value: "working", rule: secret, message: secret, task: secret },
    question: {
      rule: secret,
      value: { kind: "choice", text: secret, options: [secret], sinceMs: 1 },
    },
    outcome: { value: "failed", atMs: 2, ...words },
  };
  for (const share of SHARES) {
    const shared = sharedFacts(facts, { ...POLICY, share });
    expect(JSON.stringify(shared)).not.toContain(secret);
    expect(shared).toMatchObject({ name: "***", workspace: "/src/***" });
  }
});

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
  ["/home/me/private/", "/home/me/private"],
  ["/home/me/private/", "/home/me/private/deep"],
  ["/home/me//private", "/home/me/private/deep"],
  ["/home/me/private", "/home/me//private/"],
  ["/home/me/private", "/home/me/web/../private/./deep"],
  ["/home/me/private/*", "/home/me/private/deep"],
  ["*/private", "/srv/private"],
  ["/", "/srv/other"],
])("however a folder is written, %s excludes %s", (each, workspace) => {
  expect(isExcluded({ ...POLICY, exclude: [each] }, workspace)).toBe(true);
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
