/**
 * A command that is an operation. Its arguments and flags are fields of the operation under the
 * words of the command line; their kinds and explanations are what the API says of them (api.ts),
 * and a refusal that names a field is told in the same words.
 *
 *   words: { taskId: "KEY", ttlMs: "--ttl TIME", agentId: "--agent AGENT" }
 *
 * AGENT and TASK are named as people do (core/meant.ts), and become ids. `--agent` is the agent
 * that acts, and may be in the environment.
 */
import { buildCommand, type Command, type TypedCommandParameters } from "@stricli/core";
import { messageFor, RollcallError } from "../core/errors.ts";
import type { AnswerOf, InputOf, OperationName } from "../operations/table.ts";
import type { PostOptions } from "../wires/api/client/client.ts";
import { call, apiOperation } from "./api.ts";
import type { Context } from "./context.ts";
import { daemonOf } from "./daemon.ts";
import { printJson } from "./print.ts";
import { EXIT } from "./exit.ts";
import { answerFlags, type AnswerFlags } from "./flags.ts";
import { about, type Example } from "./help.ts";
import {
  flagOf,
  isFlag,
  isRest,
  keyOf,
  type OperationLookup,
  positionalOf,
  typedWord,
  valueOf,
} from "./operation-words.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A command beyond its operation. */
export interface CommandWords<Own> {
  /** By field; arguments in their order. */
  readonly words?: Readonly<Record<string, string>>;
  /** Flags that are no field, */
  readonly flags?: { readonly [Name in keyof Own]?: object };
  /** and the fields that they are about. */
  fill?(flags: Own): Fields | Promise<Fields>;
  /** Replaces the description of the operation. */
  readonly about?: string;
  /** Added to the description: what the command prints, and when it ends with 1. */
  readonly more?: string;
  readonly examples: readonly Example[];
}

export interface OperationCommand<Name extends OperationName, Own> extends CommandWords<Own> {
  /** Sends it, where there is more to say or to do about that. */
  ask?(send: Send<Name>, request: CommandRequest<Name>): Promise<AnswerOf<Name>>;
  /** Whether the answer is that there is nothing: it ends with 1. */
  isNothing?(answer: AnswerOf<Name>): boolean;
  /** For people; without it a command that did its work says nothing. */
  show?(answer: AnswerOf<Name>, request: CommandRequest<Name>): Promise<void>;
}

type Send<Name extends OperationName> = (options?: PostOptions) => Promise<AnswerOf<Name>>;

export interface CommandRequest<Name extends OperationName> {
  readonly context: Context;
  readonly input: InputOf<Name>;
}

export function operation<Name extends OperationName, Own = object>(
  name: Name,
  how: OperationCommand<Name, Own>,
): Command<Context> {
  const line = commandLine(name, how);
  return line.command<AnswerFlags>(answerFlags, async (context, { flags, args }) => {
    await using daemon = daemonOf(context, flags);
    const input = (await line.input({ flags, args, daemon, context })) as InputOf<Name>;
    const send: Send<Name> = (options) =>
      call(daemon, name, { ...options, input }).catch(line.refused);
    const answer = await (how.ask?.(send, { context, input }) ?? send());
    if (how.isNothing?.(answer) === true) context.endWith(EXIT.nothingFound);
    if (flags.json === true) return await printJson(context, answer);
    await how.show?.(answer, { context, input });
  });
}

/** Flags and arguments as the parser read them. */
interface ParsedLine<Flags> {
  readonly flags: Flags;
  readonly args: readonly unknown[];
}

interface InputSource<Own> extends ParsedLine<Own>, OperationLookup {}

/** The command line of an operation: for the parser, and back to the input. */
export function commandLine<Own>(name: OperationName, how: CommandWords<Own>) {
  const { fields, about: usual } = apiOperation(name);
  const does = [how.about ?? usual, how.more].filter(Boolean).join(" ");
  const words = Object.entries(how.words ?? {}).map(([field, typed]) => {
    const known = fields.get(field);
    if (!known) throw new Error(`${name} has no field ${field}`);
    return typedWord(field, typed, known);
  });
  const [named, placed] = [words.filter(isFlag), words.filter((each) => !isFlag(each))];
  return {
    /** With the flags that such commands have in common. */
    command<Common>(
      common: object,
      run: (context: Context, typed: ParsedLine<Common & Own>) => Promise<void>,
    ): Command<Context> {
      const ofFields = named.map((word) => [keyOf(word), flagOf(word)] as const);
      const flags = { ...Object.fromEntries(ofFields), ...how.flags, ...common };
      // The parser's types know each flag by its name; these have theirs from a table.
      const parameters = { flags, positional: positionalOf(placed) } as unknown;
      return buildCommand<Fields, readonly unknown[], Context>({
        docs: about(does, ...how.examples),
        parameters: parameters as TypedCommandParameters<Fields, readonly unknown[], Context>,
        func(typed, ...args) {
          return run(this, { flags: typed as Common & Own, args });
        },
      });
    },
    async input({ flags, args, ...given }: InputSource<Own>): Promise<Fields> {
      const input: Record<string, unknown> = {};
      for (const word of named) {
        put(input, word.field, await valueOf(word, (flags as Fields)[keyOf(word)], given));
      }
      for (const [i, word] of placed.entries()) {
        const typed = isRest(word) ? args.join(" ") : args[i];
        put(input, word.field, await valueOf(word, typed, given));
      }
      const filled = (await how.fill?.(flags)) ?? {};
      for (const [field, value] of Object.entries(filled)) put(input, field, value);
      return input;
    },
    /** Throws a refusal of the daemon in the words that were typed. */
    refused(this: void, error: unknown): never {
      if (!(error instanceof RollcallError)) throw error;
      const textOf = (field: string) => words.find((each) => each.field === field)?.text ?? field;
      throw new RollcallError(error.code, messageFor(error, textOf), { cause: error });
    },
    /** Whether one of its fields was given by a flag. */
    hasFilters: (flags: Own): boolean =>
      named.some((word) => (flags as Fields)[keyOf(word)] !== undefined),
  };
}

/** card.name goes into the card; what is undefined is left out. */
function put(input: Record<string, unknown>, field: string, value: unknown): void {
  if (value === undefined) return;
  const [name = "", ...rest] = field.split(".");
  if (rest.length === 0) input[name] = value;
  else put((input[name] ??= {}) as Record<string, unknown>, rest.join("."), value);
}
