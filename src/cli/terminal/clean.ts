/** Text from agents, made harmless for a terminal: see core/clean.ts. */
export { clean, cleanJson } from "../../core/clean.ts";
