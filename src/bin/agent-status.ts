/** The binary `agent-status`: not in this version, and it says so. */
import { promised } from "../cli/promised.ts";

await promised("agent-status", process.argv.slice(2));
