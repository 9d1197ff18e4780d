/** Text from agents, made harmless for a terminal: see core/clean.ts. */
export { clean, cleanJson, isPlain } from "../../core/clean.ts";
