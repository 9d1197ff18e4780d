/** Inputs to begin with, as they are seen in the world: `corpus/NAME`, one after an empty line. */
import { readFileSync } from "node:fs";

export function corpus(name: string): readonly Buffer[] {
  // The same place from here and from a bundle.
  const file = new URL(`../../test/fuzz/corpus/${name}`, import.meta.url);
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n\n")
    .map((each) => Buffer.from(each));
}
