/** The description of the API. In a bundle of one command it is cut down to what that one calls. */
import { readFileSync } from "node:fs";
import type { OpenApi } from "../wires/api/openapi.ts";

let known: OpenApi | undefined;

export function apiDocument(): OpenApi {
  const file = new URL("../../assets/openapi.json", import.meta.url);
  known ??= JSON.parse(readFileSync(file, "utf8")) as OpenApi;
  return known;
}
