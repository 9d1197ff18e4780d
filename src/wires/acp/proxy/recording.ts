/**
 * A conversation written down for its user (`acp record`): to find out what an agent said, or to
 * see the same timeline again. It may hold secrets, so it is for the owner alone, and what looks
 * like one is taken out: values of environments and headers, keys and tokens in texts; long texts
 * are cut. One line of JSON per frame:
 *
 *   {"at":1700000000000,"from":"client","frame":{"kind":"request","id":1,"method":"…", …}}
 */
import * as fs from "node:fs";
import { invalidArgument } from "../../../core/errors.ts";
import type { AcpFrame, FrameSender } from "../derive/frames.ts";
import { systemCode } from "../../../machine/system-error.ts";
import { redact } from "../../../core/redact.ts";
import { RECORDING } from "./limits.ts";

export interface RecordedFrame {
  readonly at: number;
  readonly from: FrameSender;
  readonly frame: AcpFrame;
}

/** A file for it, which must not be there yet. */
export function openRecording(path: string): number {
  try {
    return fs.openSync(path, "wx", 0o600);
  } catch (error) {
    const code = systemCode(error);
    const why =
      code === "EEXIST" ? "is there already: choose another name" : `cannot be made: ${code}`;
    throw invalidArgument(`${path} ${why}`, error);
  }
}

export class Recorder {
  readonly #stream: fs.WriteStream;
  #isLost = false;

  constructor(fd: number) {
    this.#stream = fs.createWriteStream("", { fd });
    this.#stream.on("error", () => (this.#isLost = true));
  }

  look(from: FrameSender, frame: AcpFrame, at: number): void {
    if (this.#isLost || this.#stream.writableLength > RECORDING.queuedBytes) return;
    this.#stream.write(`${JSON.stringify({ at, from, frame: redactValue(frame) })}\n`);
  }

  async close(): Promise<void> {
    if (this.#stream.closed) return;
    await new Promise<void>((resolve) => {
      this.#stream.once("close", resolve);
      this.#stream.end();
    });
  }
}

function redactText(text: string): string {
  const { textLength } = RECORDING;
  const cut = text.length > textLength ? `${text.slice(0, textLength)}…` : text;
  return redact(cut);
}

/** Lists of {name, value} in ACP: what servers are started and called with. */
const SECRET = new Set(["env", "headers"]);
const SECRET_NAME = /token|secret|password|passwd|api_?key|authorization|cookie/i;
const HIDDEN = "…";

function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > RECORDING.depth) return HIDDEN;
  if (Array.isArray(value)) {
    return value.slice(0, RECORDING.entries).map((each) => redactValue(each, depth + 1));
  }
  const entries = Object.entries(value).slice(0, RECORDING.entries);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, redactField(key, each, depth + 1)] as const),
  );
}

function redactField(key: string, value: unknown, depth: number): unknown {
  if (SECRET.has(key)) return hideValues(value);
  if (typeof value === "string" && SECRET_NAME.test(key)) return HIDDEN;
  return redactValue(value, depth);
}

function hideValues(value: unknown): unknown {
  if (!Array.isArray(value)) {
    const isMap = typeof value === "object" && value !== null;
    return isMap ? Object.fromEntries(Object.keys(value).map((key) => [key, HIDDEN])) : HIDDEN;
  }
  return value.slice(0, RECORDING.entries).map((each: unknown) => {
    const name = typeof each === "object" && each !== null && "name" in each ? each.name : "";
    return { name: String(name), value: HIDDEN };
  });
}
