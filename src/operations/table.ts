/** All operations, by noun and verb: `leases.acquire`. */
import type { z } from "zod";
import { agents } from "./agents.ts";
import { audit } from "./audit.ts";
import { cluster } from "./cluster.ts";
import { daemon } from "./daemon.ts";
import { directory } from "./directory.ts";
import { elections } from "./elections.ts";
import { fleet } from "./fleet.ts";
import { jobs } from "./jobs.ts";
import { leases } from "./leases.ts";
import { outposts } from "./outposts.ts";
import type { Answer, Operation } from "./operation.ts";
import { policies } from "./policies.ts";
import { questions } from "./questions.ts";
import { tasks } from "./tasks.ts";
import { tokens } from "./tokens.ts";

export const TABLE = {
  fleet,
  questions,
  outposts,
  agents,
  leases,
  elections,
  policies,
  tokens,
  tasks,
  jobs,
  directory,
  audit,
  cluster,
  daemon,
} as const;

export type Table = typeof TABLE;

/** `leases.acquire`. */
export type OperationName = {
  [Noun in keyof Table]: `${Noun}.${keyof Table[Noun] & string}`;
}[keyof Table];

export type OperationNamed<Name extends OperationName> =
  Name extends `${infer Noun extends keyof Table}.${infer Verb}`
    ? Table[Noun][Verb & keyof Table[Noun]]
    : never;

/** Each with its name. */
export function operations(): readonly (readonly [OperationName, Operation])[] {
  return Object.entries(TABLE).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(
      ([verb, each]) => [`${noun}.${verb}` as OperationName, each as Operation] as const,
    ),
  );
}

export type InputOf<Name extends OperationName> =
  OperationNamed<Name> extends { readonly input: infer In extends z.ZodType } ? z.input<In> : never;

export type AnswerOf<Name extends OperationName> =
  OperationNamed<Name> extends { readonly output: infer Out extends z.ZodType }
    ? Answer<Out>
    : never;
