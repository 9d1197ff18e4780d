/**
 * A tool, from its schema to its answer. What a model gets back is the same every time: structured
 * content by the schema, and a text with our summary and the same as marked data. A refusal is an
 * answer as well: it names the code, says what was wrong with which field, and what to do next.
 */
import type {
  CallToolResult,
  Tool as Described,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Access } from "../../core/access.ts";
import type { ErrorCode } from "../../core/errors.ts";
import { inSnakeCase } from "../field-names.ts";
import { parse } from "../../operations/parse.ts";
import { errorReply } from "../error-reply.ts";
import type { ToolCaller } from "./caller.ts";
import { dataText, forModel } from "./data.ts";

export interface ToolAnswer<Output> {
  /** In a sentence, in our own words. */
  readonly summary: string;
  readonly data: Output;
}

/** The way out of a refusal, where the tool knows more than the code says. */
export type Advice = Partial<Readonly<Record<ErrorCode, string>>>;

export interface ToolOptions<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly hints: Required<Omit<ToolAnnotations, "title">>;
  /** The right that its caller needs. */
  readonly access: Access;
  readonly advice?: Advice;
  /** Its refusals may repeat what agents wrote. */
  readonly quotesAgents?: boolean;
  /** The name of the argument for a field of core; in snake case unless told otherwise. */
  readonly fieldName?: (field: string) => string;
  run(input: z.output<Input>, caller: ToolCaller): Promise<ToolAnswer<z.input<Output>>>;
}

export interface Tool {
  readonly described: Described;
  readonly access: Access;
  /** Never rejects: what went wrong is the answer. */
  call(args: unknown, caller: ToolCaller): Promise<CallToolResult>;
}

/** Looks, and changes nothing. */
export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Changes something; said twice it is done twice. */
export const ADDS = { ...READS, readOnlyHint: false, idempotentHint: false } as const;

/** Changes something; said twice it is as if said once. */
export const SETS = { ...ADDS, idempotentHint: true } as const;

/** Ends something that cannot be begun again as it was. */
export const ENDS = { ...ADDS, destructiveHint: true } as const;

export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  options: ToolOptions<Input, Output>,
): Tool {
  const { name, title, description, input, output, hints, access } = options;
  const { advice = {}, quotesAgents = false, fieldName = inSnakeCase } = options;
  return {
    access,
    described: {
      name,
      title,
      description,
      inputSchema: jsonSchemaOf(input, "input"),
      outputSchema: jsonSchemaOf(output, "output"),
      annotations: { title, ...hints },
    },
    async call(args, caller) {
      try {
        caller.permit(caller.by, access);
        const given = parse("the arguments", input, args ?? {});
        const { summary, data } = await options.run(given, caller);
        return {
          content: [{ type: "text", text: dataText(summary, data) }],
          structuredContent: data,
        };
      } catch (error) {
        return refusal(error, { name, advice, quotesAgents, fieldName, caller });
      }
    },
  };
}

/** Without examples: a model might take them for what it was told. */
function jsonSchemaOf(schema: z.ZodObject, io: "input" | "output"): Described["inputSchema"] {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => delete jsonSchema.examples,
  });
  return { ...rest, type: "object" } as Described["inputSchema"];
}

interface RefusedCall {
  readonly name: string;
  readonly advice: Advice;
  readonly quotesAgents: boolean;
  readonly fieldName: (field: string) => string;
  readonly caller: ToolCaller;
}

function refusal(error: unknown, refused: RefusedCall): CallToolResult {
  const { name, advice, quotesAgents, fieldName, caller } = refused;
  const { code, message, retry } = errorReply(error, fieldName);
  if (code === "INTERNAL") caller.onFault(error);
  const next = advice[code] ?? nextStep(code, retry, name);
  const why = quotesAgents ? dataText("see the data.", forModel(message)) : forModel(message);
  const text = `${code}: ${why}\nWhat to do: ${next}`;
  return {
    isError: true,
    content: [{ type: "text", text }],
    _meta: { "rollcall/error": { code, retry } },
  };
}

function nextStep(code: ErrorCode, retry: "never" | "now" | "later", name: string): string {
  if (code === "INVALID_ARGUMENT" || code === "TOO_LARGE") {
    return `correct the argument that is named, and call ${name} again.`;
  }
  switch (retry) {
    case "now":
      return `call ${name} again.`;
    case "later":
      return `wait a few seconds, then call ${name} again; nothing was changed for certain.`;
    case "never":
      return "do not send the same call again; tell the person you work for if you cannot go on.";
  }
}
