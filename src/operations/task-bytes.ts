/** Input and output of a task are bytes; most callers have text. */
import { invalidArgument } from "../core/errors.ts";
import { quoted } from "./parse.ts";

interface Content {
  readonly base64: string | undefined;
  readonly text: string | undefined;
}

export function base64Of(name: string, { base64, text }: Content): string {
  if (base64 !== undefined && text !== undefined) {
    throw invalidArgument(`${name} and ${name}Text are both given: send one`);
  }
  if (text !== undefined) {
    if (/\p{Surrogate}/u.test(text))
      throw invalidArgument(`${name}Text is not well-formed unicode`);
    return Buffer.from(text).toString("base64");
  }
  if (base64 === undefined) return "";
  if (Buffer.from(base64, "base64").toString("base64") === base64) return base64;
  throw invalidArgument(`${name} is ${quoted(base64)}, not base64; text goes into ${name}Text`);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Nothing when it is not UTF-8. */
export function textOf(base64: string): string | undefined {
  try {
    return UTF8.decode(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}
