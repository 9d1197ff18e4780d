/** Lines as they come in, each bounded: one that never ends is not kept, and told as empty. */
import { addAbortSignal, type Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { HTTP_CLIENT } from "../net/http/limits.ts";

/** Ends with the input, or when the signal aborts. Blank lines are skipped. */
export async function* linesOf(
  input: Readable,
  signal: AbortSignal,
  maxLength: number = HTTP_CLIENT.messageLength,
): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let isTooLong = false;
  try {
    for await (const chunk of addAbortSignal(signal, input) as AsyncIterable<Buffer>) {
      const parts = decoder.write(chunk).split("\n");
      const last = parts.pop() ?? "";
      for (const part of parts) {
        const line = isTooLong ? TOO_LONG : (pending + part).trim();
        pending = "";
        isTooLong = false;
        if (line !== "") yield line.length > maxLength ? TOO_LONG : line;
      }
      if (!isTooLong) pending += last;
      if (pending.length > maxLength) {
        pending = "";
        isTooLong = true;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (pending.trim() !== "") yield pending.trim();
}

/** Not a JSON message, so that its sender is told so. */
const TOO_LONG = "too long";
