/**
 * A status that is said again and again while nothing happens: every time the same text, but for
 * when it was said. So it is checked and put into text once, for hours of heartbeats.
 */
import { statusFolder } from "./folder.ts";
import type { Status } from "./format.ts";
import { writeTimestamp } from "./timestamp.ts";
import { prepare, replaceSync } from "./write.ts";

export class RepeatedStatus {
  readonly #path: string;
  readonly #before: string;
  readonly #behind: string;

  constructor(status: Status, folder: string = statusFolder()) {
    const { path, text } = prepare(status, folder);
    const at = placeOfTime(text);
    this.#path = path;
    this.#before = text.slice(0, at);
    this.#behind = text.slice(at + status.runtime.updated_at.length);
  }

  /** A sign of life need not outlive a loss of power, and so waits for no disk. */
  writeSync(nowMs: number): void {
    const text = `${this.#before}${writeTimestamp(nowMs)}${this.#behind}`;
    replaceSync({ path: this.#path, text }, false);
  }
}

/** Where `runtime.updated_at` is: in strings there are no line breaks, so these are no strings. */
function placeOfTime(text: string): number {
  const field = '\n    "updated_at": "';
  return text.indexOf(field, text.indexOf('\n  "runtime": {')) + field.length;
}
