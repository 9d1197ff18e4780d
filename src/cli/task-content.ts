/** The input or output of a task: a text on the command line, or the bytes of a file. */
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { errorText, invalidArgument } from "../core/errors.ts";
import { textFlag } from "./flags.ts";

type ContentName = "input" | "output";

export type ContentFlags<N extends ContentName> = { readonly [Key in N | `${N}File`]?: string };

export function contentFlags<N extends ContentName>(name: N, brief: string) {
  const [text, file] = [textFlag("TEXT", brief), textFlag("FILE", `${brief}; - is stdin`)];
  return { [name]: text, [`${name}File`]: file } as {
    readonly [Key in N | `${N}File`]: typeof text;
  };
}

/** The fields of a body that say it. */
export async function contentOf<N extends ContentName>(
  name: N,
  flags: ContentFlags<N>,
): Promise<Readonly<Record<string, string>>> {
  const [text, file]: (string | undefined)[] = [flags[name], flags[`${name}File`]];
  if (text !== undefined && file !== undefined) {
    throw invalidArgument(`--${name} and --${name}-file exclude each other`);
  }
  if (text !== undefined) return { [`${name}Text`]: text };
  if (file === undefined) return {};
  return { [name]: (await bytesOf(file, `--${name}-file`)).toString("base64") };
}

async function bytesOf(file: string, flag: string): Promise<Buffer> {
  try {
    return await (file === "-" ? buffer(process.stdin) : readFile(file));
  } catch (cause) {
    const why = errorText(cause);
    throw invalidArgument(`${flag} cannot be read: ${why}`, cause);
  }
}
