import { describe, expect, test } from "vitest";
import { described, exampleAnswer, schemas } from "../../test/support/cli/answers.ts";
import type { Schema } from "../wires/api/openapi-example.ts";
import { shapeCheck } from "./shape.ts";

const check = shapeCheck(schemas);
const { schema = {} } = described.get("leases.list") ?? {};

test("every example of the API has the shape that its operation promises", () => {
  const problems = [...described].map(([, answer]) => check(answer.example, answer.schema));
  expect(new Set(problems)).toEqual(new Set([undefined]));
  expect(problems.length).toBeGreaterThan(45);
});

test("without any one of its fields, or with another kind of thing there, none has", () => {
  for (const [name, answer] of described) {
    for (const field of answer.schema.required ?? []) {
      const { [field]: _, ...rest } = answer.example as Record<string, unknown>;
      expect([name, check(rest, answer.schema)]).toEqual([name, `its answer has no ${field}`]);
      const { [field]: { type, $ref, anyOf } = {} } = answer.schema.properties ?? {};
      // A card may be anything.
      if (type === undefined && $ref === undefined && anyOf === undefined) continue;
      const wrong = { ...rest, [field]: () => "no kind of JSON" };
      expect([name, check(wrong, answer.schema)]).not.toEqual([name, undefined]);
    }
  }
});

describe("an answer", () => {
  test("may have more than is known: a newer daemon says more", () => {
    expect(check({ ...exampleAnswer("leases.list"), news: { deep: [[]] } }, schema)).toBe(
      undefined,
    );
  });

  test("that is wrong deep inside says where", () => {
    const answer = exampleAnswer("leases.list");
    const leases = [...answer.leases, { ...answer.leases[0], token: "7" }];
    expect(check({ ...answer, leases }, schema)).toBe("its answer.leases[1].token is no integer");
    const agents = described.get("agents.list")?.schema ?? {};
    const [agent] = exampleAnswer("agents.list").agents;
    const odd = { ...agent, status: "asleep" };
    expect(check({ ...exampleAnswer("agents.list"), agents: [odd] }, agents)).toBe(
      "its answer.agents[0].status is unknown",
    );
  });

  test("is one of several kinds, or of a map of one", () => {
    const kinds: Schema = { anyOf: [{ type: "string" }, { type: "null" }] };
    expect([check("a", kinds), check(null, kinds)]).toEqual([undefined, undefined]);
    expect(check(1, kinds)).toBe("its answer is unknown");
    const map: Schema = { type: "object", additionalProperties: { type: "boolean" } };
    expect(check({ a: true, b: 1 }, map)).toBe("its answer.b is no boolean");
  });
});
