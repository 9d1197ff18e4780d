/**
 * The format as JSON Schema, for editors and for writers in other languages. It says what
 * validate.ts says; a test holds the two together.
 */
import { GOAL_SOURCES, LIFECYCLES, SCHEMA_VERSION, TASK_STATES } from "./format.ts";

const words = { type: "string", minLength: 1 } as const;
const text = { type: "string" } as const;
const moment = { type: "string", minLength: 1, format: "date-time" } as const;

function optional(properties: object, required: readonly string[] = []): object {
  return { type: ["object", "null"], properties, required };
}

export const STATUS_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: `urn:${SCHEMA_VERSION.replace("/", ":")}`,
  title: SCHEMA_VERSION,
  description: "The status of one running agent, in a file that is named after its agent_id.",
  type: "object",
  required: ["schema_version", "agent_id", "agent_name", "runtime"],
  properties: {
    schema_version: { const: SCHEMA_VERSION },
    agent_id: { ...words, description: "Unique for each running instance; names the file." },
    agent_name: { ...words, description: "The program: several instances share it." },
    runtime: {
      type: "object",
      required: ["lifecycle", "updated_at"],
      properties: {
        lifecycle: { enum: LIFECYCLES },
        updated_at: { ...moment, description: "The last heartbeat: every 15 to 30 seconds." },
        last_activity_at: moment,
        pid: { type: "integer" },
        workspace: { ...text, description: "An absolute path." },
      },
    },
    goal: optional({ summary: words, updated_at: moment, source: { enum: GOAL_SOURCES } }, [
      "summary",
      "updated_at",
      "source",
    ]),
    task: optional({
      id: text,
      context_id: text,
      state: { enum: [...TASK_STATES, null] },
      summary: text,
      status_timestamp: moment,
    }),
    a2a: optional({ agent_card_url: text, service_url: text }),
    x_meta: optional({}),
  },
} as const;
