import { expect, test } from "vitest";
import { exampleAnswer } from "../../test/support/cli/answers.ts";
import { RollcallError } from "../core/errors.ts";
import type { Context } from "./context.ts";
import { commandLine } from "./operation.ts";

const ID = "0123456789abcdef0123456789abcdef";
const context = { env: { ROLLCALL_AGENT_ID: ID } } as unknown as Context;

/** A daemon that is only asked for one agent. */
const { agent, ...shown } = exampleAnswer("agents.get");
const daemon = { get: async () => ({ ...shown, agent: { ...agent, agentId: ID } }) };

test("flags and arguments become fields; a field that was not typed is left out", async () => {
  const register = commandLine("agents.register", {
    words: { "card.name": "NAME", "card.tools": "--tool TOOL", ttlMs: "--ttl TIME" },
    fill: () => ({ "card.metadata": { team: "a" } }),
    examples: [],
  });
  const typed = { flags: { tool: ["git"], ttl: undefined }, args: ["web-1"] };
  expect(await register.input({ ...typed, daemon, context })).toEqual({
    card: { name: "web-1", tools: ["git"], metadata: { team: "a" } },
  });
});

test("an agent goes by its name, the agent that acts may be in the environment", async () => {
  const campaign = commandLine("elections.campaign", {
    words: { group: "GROUP", agentId: "--agent AGENT" },
    examples: [],
  });
  const input = (flags: object) => campaign.input({ flags, args: ["g"], daemon, context });
  expect(await input({})).toEqual({ group: "g", agentId: ID });
  expect(await input({ agent: "web-1" })).toEqual({ group: "g", agentId: ID });
});

test("a refusal is told in the words that were typed", () => {
  const { refused } = commandLine("leases.acquire", {
    words: { taskId: "KEY", ttlMs: "--ttl TIME" },
    examples: [],
  });
  const told = (code: "INVALID_ARGUMENT" | "NOT_FOUND", message: string) => () =>
    refused(new RollcallError(code, message));
  expect(told("INVALID_ARGUMENT", "taskId is empty")).toThrow(/^KEY is empty$/);
  expect(told("INVALID_ARGUMENT", "ttlMs is 0.5 s")).toThrow(/^--ttl is 0.5 s$/);
  expect(told("INVALID_ARGUMENT", "the body is empty")).toThrow(/^the body is empty$/);
  expect(told("NOT_FOUND", "taskId x is not there")).toThrow(/^taskId x is not there$/);
});

test("a word for a field that the operation does not have is a fault of the command", () => {
  const words = { key: "KEY" };
  expect(() => commandLine("leases.acquire", { words, examples: [] })).toThrow(
    "leases.acquire has no field key",
  );
});
