/**
 * An operation is something that a caller may ask of Rollcall, described once for every wire: its
 * input, its answer, its help, and how it is done. The table of all of them (table.ts) makes the
 * routes of HTTP and their OpenAPI document, the tools of MCP, and the flags and the help of the
 * command line.
 *
 * Fields have the names of core (taskId, ttlMs), which are also those of HTTP; the other wires
 * rename them at their edge. Schemas check the shape of an input; the rules are core's.
 */
import type { z } from "zod";
import type { Clock } from "../core/clock.ts";
import type { Access } from "../core/access.ts";
import type { By } from "../core/by.ts";
import type { DirectoryService } from "../directory/directory.ts";
import type { Audit } from "../engine/audit.ts";
import type { TaskClaims } from "../engine/claims.ts";
import type { Engine } from "../engine/engine.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { OutpostService } from "../outposts/outposts.ts";
import type { AgentSearch } from "../search/agent-search.ts";
import type { Permit } from "./access.ts";
import type { ClusterOperations } from "./cluster.ts";
import type { DaemonStatus } from "./daemon.ts";

/** The services that operations use. */
export interface OperationServices {
  readonly engine: Engine;
  readonly claims: TaskClaims;
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly outposts: OutpostService;
  readonly directory: DirectoryService;
  readonly search: Pick<AgentSearch, "find">;
  readonly audit: Pick<Audit, "list">;
  /** The door asked it by the words of the input; what they mean may be denied by its id. */
  readonly permit: Permit;
  /** Where the log is shared with other nodes. */
  readonly cluster?: ClusterOperations | undefined;
  /** The status of this daemon. */
  status(): DaemonStatus;
}

/** The services that one operation uses. */
export type Uses<Name extends keyof OperationServices> = Pick<OperationServices, Name>;

/** One call of an operation, beside its input. */
export interface OperationCall {
  readonly by: By;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * The effect on the state: it `reads` and changes nothing; `adds`, so that twice is two; `sets`, so
 * that twice is as once; `ends` something that cannot be begun again as it was.
 */
export type Effect = "reads" | "adds" | "sets" | "ends";

export interface Operation<
  In extends z.ZodObject = z.ZodObject,
  Out extends z.ZodObject = z.ZodObject,
  Used = OperationServices,
> {
  /** Over HTTP: a GET when it reads, else a POST. A field of the input may be part: {taskId}. */
  readonly path: `/${string}`;
  readonly effect: Effect;
  /** The right that its caller needs: the doors ask before it is run. */
  readonly access: Access;
  /** In a few words. */
  readonly brief: string;
  /** In a few sentences, for its callers. */
  readonly about: string;
  readonly input: In;
  readonly output: Out;
  run(services: Used, input: z.output<In>, call: OperationCall): Promise<Answer<Out>>;
  /** Where in core's command the input goes: a refusal of policy.id is one of id to the caller. */
  readonly within?: string;
  /** The answer as JSON, where that is not just the value. */
  json?(answer: Answer<Out>): string;
}

/** The answer of an operation, read-only. */
export type Answer<Out extends z.ZodType> = Frozen<z.output<Out>>;

type Frozen<T> = T extends readonly (infer Each)[]
  ? readonly Frozen<Each>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** Checks a row of the table against its own types. */
export function operation<In extends z.ZodObject, Out extends z.ZodObject, Used>(
  described: Operation<In, Out, Used>,
): Operation<In, Out, Used> {
  return described;
}
