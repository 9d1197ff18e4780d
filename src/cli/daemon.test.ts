import { describe, expect, test } from "vitest";
import { exampleAnswer } from "../../test/support/cli/answers.ts";
import { pathOf } from "./api.ts";
import { actingAgent, agentId, directoryUrl, taskId } from "./daemon.ts";

const [ONE, TWO] = ["abcd1".padEnd(32, "0"), "abcd2".padEnd(32, "0")];

/** A daemon that finds one agent and one task, and writes down what it is asked. */
function daemon(id: string) {
  const asked: string[] = [];
  return {
    asked,
    get: async (path: string) => {
      asked.push(path);
      const { agent } = exampleAnswer("agents.get");
      const { task } = exampleAnswer("tasks.get");
      const { entry, ...shown } = exampleAnswer("directory.get");
      return {
        ...shown,
        agent: { ...agent, agentId: id },
        task: { ...task, id },
        entry: { ...entry, url: "http://localhost:8001" },
      };
    },
  };
}

describe("an agent", () => {
  test("that is named as people do is looked up; a whole id is taken as it is", async () => {
    const one = daemon(ONE);
    expect(await agentId(one, "web/1")).toBe(ONE);
    expect(await taskId(one, "ocr")).toBe(ONE);
    expect(await directoryUrl(one, "Echo")).toBe("http://localhost:8001");
    expect(one.asked).toEqual(["/v1/agents/web%2F1", "/v1/tasks/ocr", "/v1/directory/Echo"]);
    expect(await agentId(one, TWO)).toBe(TWO);
    expect(await directoryUrl(one, "http://x")).toBe("http://x");
    expect(one.asked).toHaveLength(3);
  });

  test("is not named by an empty variable", async () => {
    await expect(agentId(daemon(ONE), "")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("is the flag's before the environment's", async () => {
    const env = { ROLLCALL_AGENT_ID: TWO };
    expect(await actingAgent(daemon(ONE), { env }, ONE)).toBe(ONE);
    expect(await actingAgent(daemon(ONE), { env }, undefined)).toBe(TWO);
    await expect(actingAgent(daemon(ONE), { env: {} }, undefined)).rejects.toThrow(
      "--agent is not",
    );
  });
});

test("a path holds any key and any filter", () => {
  const one = (key: string) => pathOf("/v1/leases/{key}", { key });
  expect(one("a/b?c#d e%2F")).toBe("/v1/leases/a%2Fb%3Fc%23d%20e%252F");
  for (const key of [".", "..", ""]) expect(() => one(key)).toThrow("use the list");
  expect(pathOf("/x", { a: undefined })).toBe("/x");
  expect(pathOf("/x", { a: "&=", b: ["1", "2"], c: 3 })).toBe("/x?a=%26%3D&b=1&b=2&c=3");
});
