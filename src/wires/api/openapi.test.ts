import { expect, test } from "vitest";
import { z } from "zod";
import { operations } from "../../operations/table.ts";
import { openApi, openApiText } from "./openapi.ts";
import { apiRoutes, type ApiOptions } from "./routes.ts";

const document = openApi();
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

// `npx vitest run src/wires/api/openapi.test.ts -u` writes it anew.
test("the copy that is reviewed and that the command line reads is up to date", async () => {
  await expect(openApiText()).toMatchFileSnapshot("../../../assets/openapi.json");
});

test("every route that is served is described, and nothing else", () => {
  // No handler is called: only the paths are looked at.
  const routes = apiRoutes({ streams: {}, lookers: {} } as ApiOptions);
  const served = routes.map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
  );
  const told = described.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  // The stream of all events, and the words for probes, are mounted beside them.
  const beside = ["GET /v1/events", "GET /healthz", "GET /readyz"];
  expect(new Set(told)).toEqual(new Set([...served, ...beside]));
  expect(told).toHaveLength(new Set(told).size);
});

test("every operation has a name of its own, words, and what it answers", () => {
  const names = described.map(({ operation }) => operation["operationId"]);
  expect(new Set(names).size).toBe(names.length);
  const tags = new Set(document.tags.map(({ name }) => name));
  for (const { operation } of described) {
    expect(tags).toContain((operation["tags"] as string[])[0]);
    expect(operation["summary"]).toMatch(/^[A-Z].*[^.]$/);
    expect(operation["responses"]).toHaveProperty("200.description");
    expect(operation["responses"]).toHaveProperty("default");
  }
});

test("whatever is referred to is there", () => {
  const references = JSON.stringify(document).match(/"#\/[^"]*"/g) ?? [];
  expect(references.length).toBeGreaterThan(50);
  for (const reference of new Set(references)) {
    const steps = reference.slice(3, -1).split("/");
    const found = steps.reduce<unknown>((at, step) => (at as Fields)[step], document);
    expect([reference, found]).toEqual([reference, expect.any(Object)]);
  }
});

type Fields = Readonly<Record<string, unknown>>;
type Content = { readonly schema: Fields; readonly example: unknown };

/** The schemas of JSON that an operation takes and gives, with their examples. */
function contentsOf({ requestBody, responses }: Fields): readonly Content[] {
  const holders = [requestBody, (responses as Fields)["200"]] as (
    | { content: Fields }
    | undefined
  )[];
  return holders.flatMap(
    (each) => (each?.content["application/json"] as Content | undefined) ?? [],
  );
}

test("examples are what their schemas describe, and what is really taken and given", () => {
  const defs = document.components.schemas;
  const whole = (schema: Fields) =>
    JSON.parse(
      JSON.stringify({ ...schema, $defs: defs }).replaceAll("#/components/schemas/", "#/$defs/"),
    ) as z.core.JSONSchema.JSONSchema;
  const byName = new Map<unknown, Fields>(
    described.map(({ operation }) => [operation["operationId"], operation]),
  );
  for (const [name, { input, output, effect }] of operations()) {
    const contents = contentsOf(byName.get(name) ?? {});
    expect(contents).toHaveLength(effect === "reads" ? 1 : 2);
    for (const { schema, example } of contents) z.fromJSONSchema(whole(schema)).parse(example);
    const [given, answer] = effect === "reads" ? [undefined, contents[0]] : contents;
    if (given) input.parse(given.example);
    output.parse(answer?.example);
  }
});

test("what a policy is asked for is made of fields that the operation takes", () => {
  for (const [, { access, input }] of operations()) {
    expect(access.action).toMatch(/^[a-z]+\.[a-z]+$/);
    for (const [, field = ""] of access.resource.matchAll(/\{(\w+)\}/g)) {
      expect(Object.keys(input.shape)).toContain(field);
    }
  }
});
