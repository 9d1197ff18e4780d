/** Which version this is, read from the package it came in. */
import { readFileSync } from "node:fs";

interface Manifest {
  readonly version: string;
}

export function releaseVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as Manifest).version;
}
