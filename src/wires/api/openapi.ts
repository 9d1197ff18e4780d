/**
 * The API described as OpenAPI 3.1: for people, for makers of clients, and for our own command
 * line. It is made of the table of operations, so it says what is served and nothing else. A copy
 * is in assets/openapi.json, where a change of the API shows as a difference to be reviewed.
 */
import { z } from "zod";
import type { Operation } from "../../operations/operation.ts";
import { operations, type Table } from "../../operations/table.ts";
import { DIRECTORY_EVENTS, LIVE, type Live } from "./live.ts";
import { exampleOf, type Schema, type Schemas } from "./openapi-example.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

export interface OpenApi {
  readonly openapi: string;
  readonly info: JsonSchema;
  readonly tags: readonly JsonSchema[];
  /** By path, then by method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly components: { readonly schemas: Schemas; readonly responses: JsonSchema };
}

/** Schemas by their name, which others refer to. */
type Components = Record<string, Schema>;

const NOUNS: Readonly<Record<keyof Table, string>> = {
  fleet: "Every agent of every wire as one row: what it does, and whether it needs a person",
  questions: "Questions that agents wait for a person to answer",
  outposts: "Daemons of other machines that report here, and the calls by which they do",
  agents: "Agents of the registry: they come, stay by heartbeats, and are found",
  leases: "One agent at a time may work on a thing",
  elections: "Groups of agents of which one leads",
  policies: "Rules that allow or deny an action on a resource",
  tokens: "Secrets that let programs in, each in one role and for a time",
  tasks: "The queue: work that any agent with the right tools may take, once",
  jobs: "Runs of agents; ARCP submits, follows and cancels them",
  directory: "A2A agents that others can call, and how far to trust each",
  audit: "What callers changed, did for others, and were denied",
  cluster: "The members that share one log, and which one leads",
  daemon: "The daemon itself, and its events",
};

const REFUSAL = z.object({
  error: z.object({
    code: z.string().meta({ description: "The kind of refusal", examples: ["NOT_FOUND"] }),
    message: z.string().meta({
      description: "The reason; it begins with the field where one is to blame",
      examples: ["no lease on deploy/prod"],
    }),
    retry: z
      .enum(["never", "now", "later"])
      .describe("Whether the same call may succeed if it is sent again"),
  }),
});

const REFUSED = { default: { $ref: "#/components/responses/Refusal" } } as const;

const EVENT_STREAM = { "text/event-stream": { schema: { type: "string" } } } as const;

const EVENTS = {
  about:
    "Every event after `from`, or after the header Last-Event-ID, in order and once each, then " +
    "live; `resync` where the log no longer reaches back so far.",
  input: z.strictObject({
    from: z.string().optional().describe("The sequence of the last event that the caller has"),
    topic: z
      .array(z.string())
      .default([])
      .describe("Prefixes of the topics to send, such as lease."),
  }),
} as const;

/** Made once. */
export function openApiText(): string {
  text ??= `${linesOf(openApi(), "")}\n`;
  return text;
}

let text: string | undefined;

/** JSON for readers: what fits on a line is on one. */
function linesOf(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || line.length + indent.length < 100) return line;
  const deeper = `${indent}  `;
  const parts = Object.entries(value).map(([name, each]) => {
    const key = Array.isArray(value) ? "" : `${JSON.stringify(name)}: `;
    return `\n${deeper}${key}${linesOf(each, deeper)}`;
  });
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}${parts.join(",")}\n${indent}${close}`;
}

export function openApi(): OpenApi {
  const schemas: Components = {};
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, operation] of operations()) {
    const method = operation.effect === "reads" ? "get" : "post";
    paths[operation.path] = { [method]: operationOf(name, operation, schemas) };
  }
  const refusal = jsonContent(schemaOf(REFUSAL, "output", schemas), schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "Rollcall",
      version: "1",
      description:
        "One control plane for AI agents. Times are milliseconds since 1970 by the daemon's " +
        "clock. An unknown field is refused. Names and their meaning stay; new ones may come.",
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    tags: Object.entries(NOUNS).map(([name, description]) => ({ name, description })),
    paths: {
      ...paths,
      "/v1/events": { get: streamOf("daemon.events", EVENTS, schemas) },
      [DIRECTORY_EVENTS.path]: { get: streamOf("directory.events", DIRECTORY_EVENTS, schemas) },
      "/openapi.json": { get: plain("daemon.api", "Describe the API", "application/json") },
      "/healthz": { get: plain("daemon.health", "Say that the daemon runs", "text/plain") },
      "/readyz": { get: plain("daemon.ready", "Say whether commands are answered", "text/plain") },
      "/metrics": { get: plain("daemon.metrics", "Show the metrics", "text/plain") },
    },
    components: {
      schemas,
      responses: { Refusal: { description: "It was refused.", content: refusal } },
    },
  };
}

function operationOf(name: string, operation: Operation, components: Components): JsonSchema {
  const { brief, about, access, path, input, output, effect } = operation;
  const live: Live | undefined = LIVE[name as keyof typeof LIVE];
  const told = live ? `\n\nWith \`Accept: text/event-stream\` it is told live: ${live.about}` : "";
  const answer = jsonContent(schemaOf(output, "output", components), components);
  return {
    ...named(name, brief),
    description: about + told,
    "x-access": access,
    ...(effect === "reads"
      ? { parameters: parametersOf(path, { ...input.shape, ...live?.input.shape }, components) }
      : { requestBody: bodyOf(schemaOf(input, "input", components), components) }),
    responses: {
      200: { description: "The answer.", content: { ...answer, ...(live && EVENT_STREAM) } },
      ...REFUSED,
    },
  };
}

function streamOf(
  name: string,
  live: Pick<Live, "about" | "input">,
  components: Components,
): JsonSchema {
  return {
    ...named(name, "Follow the events"),
    description: live.about,
    parameters: parametersOf("", live.input.shape, components),
    responses: { 200: { description: "A stream of events.", content: EVENT_STREAM }, ...REFUSED },
  };
}

function plain(name: string, brief: string, type: string): JsonSchema {
  const content = { [type]: {} };
  return {
    ...named(name, brief),
    responses: { 200: { description: "The answer.", content }, ...REFUSED },
  };
}

function named(name: string, summary: string): JsonSchema {
  const [tag] = name.split(".");
  return { operationId: name, tags: [tag], summary };
}

function parametersOf(
  path: string,
  shape: z.ZodRawShape,
  components: Components,
): readonly JsonSchema[] {
  const { properties = {}, required = [] } = schemaOf(z.object(shape), "input", components);
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    const isInPath = path.includes(`{${name}}`);
    return {
      name,
      in: isInPath ? "path" : "query",
      required: isInPath || required.includes(name),
      ...(description !== undefined && { description }),
      schema,
    };
  });
}

function bodyOf(schema: Schema, components: Components): JsonSchema {
  return { required: true, content: jsonContent(schema, components) };
}

function jsonContent(schema: Schema, components: Components): JsonSchema {
  return { "application/json": { schema, example: exampleOf(schema, components) } };
}

/** A schema with an id becomes a component, and is referred to. */
function schemaOf(schema: z.ZodObject, io: "input" | "output", components: Components): Schema {
  const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io, override: plainer });
  const inPlace = (value: object) =>
    JSON.parse(JSON.stringify(value).replaceAll("#/$defs/", "#/components/schemas/")) as Schema;
  for (const [id, each] of Object.entries($defs)) components[id] = inPlace(each);
  return inPlace(rest);
}

/** Answers may grow, and every whole number is one that JavaScript can hold. */
function plainer({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
