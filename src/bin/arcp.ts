/** The binary `arcp`: not in this version, and it says so. */
import { promised } from "../cli/promised.ts";

await promised("arcp", process.argv.slice(2));
