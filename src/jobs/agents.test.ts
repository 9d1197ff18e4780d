import { expect, test } from "vitest";
import { JobAgents } from "./agents.ts";

test("an agent without versions is one by its bare name; one that left is not found", () => {
  const agents = new JobAgents();
  agents.register("plain", () => 1);
  agents.register("both", () => 1);
  agents.register("both", () => 2, { version: "2" });
  expect(agents.resolve("plain").ref).toBe("plain");
  expect(agents.resolve("both").ref).toBe("both");
  expect(agents.resolve("both@2").ref).toBe("both@2");
  expect(() => agents.resolve("plain@1")).toThrow(/no version/);
  expect(() => agents.resolve("../etc")).toThrow(/neither NAME nor/);
  agents.unregister("plain");
  expect(() => agents.resolve("plain")).toThrow(/no agent plain/);
  expect(() => agents.register("bad name", () => 1)).toThrow(/not a valid agent name/);
});
