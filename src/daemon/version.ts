/** Which version this is, read from the package it came in. */
import { readFileSync } from "node:fs";
import { z } from "zod";

const manifest = z.object({ version: z.string() });

export function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return manifest.parse(JSON.parse(text)).version;
}
