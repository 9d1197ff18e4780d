/** A command that lists what an operation answers with. */
import type { Command } from "@stricli/core";
import type { AnswerOf, OperationName } from "../operations/table.ts";
import type { Context } from "./context.ts";
import { daemonOf } from "./daemon.ts";
import { listFlags, type ListFlags } from "./flags.ts";
import { daemonList, showList, type ListSpec } from "./listing.ts";
import { commandLine, type CommandWords } from "./operation.ts";

/** The type of a row of the list. */
type RowOf<Name extends OperationName> = {
  [Field in keyof AnswerOf<Name>]-?: AnswerOf<Name>[Field] extends readonly (infer Row)[]
    ? Row
    : never;
}[keyof AnswerOf<Name>];

interface ListCommand<Item, Own>
  extends CommandWords<Own>, Pick<ListSpec<Item>, "topics" | "columns" | "key"> {
  /** The word for its rows, in the plural, where that is not its operation's. */
  readonly noun?: string;
  /** Shown when the list is empty: without filters, and with some. */
  readonly nothing: readonly [all: string, filtered: string];
}

export function listOperation<Name extends OperationName, Own = object>(
  name: Name,
  how: ListCommand<RowOf<Name>, Own>,
): Command<Context> {
  const line = commandLine(name, how);
  const [operationNoun = ""] = name.split(".");
  const { topics, columns, nothing, noun = operationNoun } = how;
  return line.command<ListFlags>(listFlags, async (context, typed) => {
    const { flags } = typed;
    await using daemon = daemonOf(context, flags);
    const listing: ListSpec<RowOf<Name>> = {
      operation: name,
      input: (await line.input({ ...typed, daemon, context })) as ListSpec<unknown>["input"],
      noun,
      topics,
      columns,
      key: (row) => how.key(row),
      nothing: nothing[Number(line.hasFilters(flags))] ?? "",
    };
    await showList({ context, source: daemonList(daemon, listing), look: listing, flags });
  });
}
