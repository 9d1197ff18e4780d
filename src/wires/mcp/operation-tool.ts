/**
 * A tool that is an operation. Its arguments are the fields of the operation in the words of this
 * wire: names in snake case, times in seconds; and the agent that acts may be left out, since a
 * connection is one itself.
 */
import { z } from "zod";
import type { Effect, Operation, Answer as Result } from "../../operations/operation.ts";
import { inSnakeCase } from "../field-names.ts";
import type { ToolCaller } from "./caller.ts";
import {
  ADDS,
  ENDS,
  READS,
  SETS,
  tool,
  type ToolAnswer,
  type Tool,
  type ToolOptions,
} from "./tool.ts";

export const AGENT_ID = z
  .string()
  .optional()
  .describe("The agent that acts; leave it out to act as the agent that this connection is");

const HINTS = { reads: READS, adds: ADDS, sets: SETS, ends: ENDS } as const satisfies Readonly<
  Record<Effect, unknown>
>;

/** How a tool has a field of its operation, where that is not as always. */
interface Argument {
  readonly name?: string;
  readonly schema?: z.ZodType;
}

interface OperationToolOptions<Out extends z.ZodObject, Shown extends z.ZodObject> extends Pick<
  ToolOptions<z.ZodObject, Shown>,
  "name" | "description" | "output" | "advice"
> {
  /** By the name of the field; null for one that the tool does not have. */
  readonly fields?: Readonly<Record<string, Argument | null>>;
  /** The answer as a model gets it. */
  readonly tell: (result: Result<Out>) => ToolAnswer<z.input<Shown>>;
}

export function toolOf<In extends z.ZodObject, Out extends z.ZodObject, Shown extends z.ZodObject>(
  operation: Operation<In, Out, ToolCaller>,
  { fields = {}, tell, ...described }: OperationToolOptions<Out, Shown>,
): Tool {
  const given = Object.entries<z.ZodType>(operation.input.shape).flatMap(([field, schema]) => {
    const own = fields[field];
    if (own === null) return [];
    const isTime = field.endsWith("Ms");
    const usual = field === "agentId" ? AGENT_ID : isTime ? secondsOf(schema) : schema;
    const { name = inSnakeCase(field), schema: taken = usual } = own ?? {};
    return [{ field, name, schema: taken, isTime }];
  });
  const names = new Map(given.map(({ field, name }) => [field, name]));
  return tool({
    ...described,
    title: operation.brief,
    hints: HINTS[operation.effect],
    access: operation.access,
    input: z.strictObject(Object.fromEntries(given.map(({ name, schema }) => [name, schema]))),
    fieldName: (field) => names.get(field) ?? inSnakeCase(field),
    async run(args, caller) {
      const input: Record<string, unknown> = {};
      let { by } = caller;
      for (const { field, name, isTime } of given) {
        const value = args[name];
        if (field === "agentId") {
          const actor = await caller.acting(value as string | undefined);
          input[field] = actor.agentId;
          by = actor.by;
        } else if (value !== undefined) input[field] = isTime ? Number(value) * 1000 : value;
      }
      caller.permit(by, operation.access, input);
      return tell(await operation.run(caller, input as z.output<In>, { ...caller, by }));
    },
  });
}

/** A time of core, which is in milliseconds and 0 where none is given. */
function secondsOf({ description = "" }: z.ZodType): z.ZodType {
  return z.int().min(0).default(0).describe(description);
}
