/** How commands show what they found: JSON, facts, and notes on stderr. */
import { shortId } from "../core/words.ts";
import type { Context } from "./context.ts";
import { clean, cleanJson } from "./terminal/clean.ts";
import { factLines, type FactRow, type Look } from "./terminal/table.ts";
import { momentText } from "./terminal/time.ts";
import { wrap } from "./terminal/width.ts";

/** An agent by its name, where that is known, and always by its id. */
export function who(id: string, name: string | undefined): string {
  return name ? `${clean(name)} (${shortId(id)})` : shortId(id);
}

export async function printJson({ out }: Context, answer: unknown): Promise<void> {
  await out.line(cleanJson(answer));
}

/** One thing for people to read, a line for each fact. */
export async function printFacts(context: Context, facts: readonly FactRow[]): Promise<void> {
  for (const line of factLines(facts, lookOf(context))) await context.out.line(line);
}

/** For the person beside the pipe: on stderr. */
export async function note({ err }: Context, text: string): Promise<void> {
  const lines = wrap(clean(text), err.columns - INDENT);
  for (const [i, line] of lines.entries()) {
    await err.line(err.paint("dim", `${i === 0 ? "· " : "  "}${line}`));
  }
}

const INDENT = 2;

/** Says of which moment of the past something is shown, if of one. */
export async function noteMoment(context: Context, atMs: number | undefined): Promise<void> {
  if (atMs !== undefined) await note(context, `as of ${momentText(atMs, Date.now())}`);
}

export function lookOf({ out }: Context): Look {
  return { width: out.columns, paint: (style, text) => out.paint(style, text) };
}
