import { describe, expect, test } from "vitest";
import { actingAgent, agentId, pathOf, taskId } from "./daemon.ts";

const [ONE, TWO] = ["abcd1".padEnd(32, "0"), "abcd2".padEnd(32, "0")];

/** A daemon with these agents, which writes down what it is asked. */
function daemon(...ids: readonly string[]) {
  const asked: string[] = [];
  return {
    asked,
    get: async (path: string) => {
      asked.push(path);
      const agents = ids.map((id, i) => ({ agentId: id, card: { name: `a${i}` } }));
      const tasks = ids.map((id) => ({ id, type: "ocr" }));
      return { agents: agents.slice(0, 5), tasks: tasks.slice(0, 5), total: ids.length };
    },
  };
}

describe("an id that is cut short", () => {
  test("is looked up; a whole one is taken as it is", async () => {
    const one = daemon(ONE);
    expect(await agentId(one, "abcd")).toBe(ONE);
    expect(one.asked).toEqual(["/v1/agents?idPrefix=abcd&limit=5"]);
    expect(await agentId(one, TWO)).toBe(TWO);
    expect(one.asked).toHaveLength(1);
    expect(await taskId(one, "abcd")).toBe(ONE);
  });

  test("is refused with those it could be when it is not one's alone", async () => {
    await expect(agentId(daemon(ONE, TWO), "abcd")).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "the ids of 2 agents begin abcd: abcd10000000 (a0), abcd20000000 (a1)",
    });
    const many = daemon(...Array.from({ length: 9 }, () => ONE));
    await expect(taskId(many, "abcd")).rejects.toThrow(/^the ids of 9 tasks .*, and 4 more$/);
  });

  test("is refused when it is nobody's, or too short to be meant", async () => {
    await expect(agentId(daemon(), "abcd")).rejects.toMatchObject({ code: "NOT_FOUND" });
    for (const given of ["", "abc"]) {
      await expect(agentId(daemon(ONE), given)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  test("is the flag's before the environment's", async () => {
    const env = { ROLLCALL_AGENT_ID: TWO };
    expect(await actingAgent(daemon(), { env }, ONE)).toBe(ONE);
    expect(await actingAgent(daemon(), { env }, undefined)).toBe(TWO);
    await expect(actingAgent(daemon(), { env: {} }, undefined)).rejects.toThrow("--agent is not");
  });
});

test("a path holds any key and any filter", () => {
  const one = (key: string) => pathOf("/v1/leases/{key}", { key });
  expect(one("a/b?c#d e%2F")).toBe("/v1/leases/a%2Fb%3Fc%23d%20e%252F");
  for (const key of [".", "..", ""]) expect(() => one(key)).toThrow("use the list");
  expect(pathOf("/x", { a: undefined })).toBe("/x");
  expect(pathOf("/x", { a: "&=", b: ["1", "2"], c: 3 })).toBe("/x?a=%26%3D&b=1&b=2&c=3");
});
