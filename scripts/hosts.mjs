/**
 * `npm run hosts [-- NAME…]`: the real coding agents in front of Rollcall, without a network. Plays
 * test/hosts/main.ts, in this very process.
 */
import { install } from "./install.mjs";

install();
process.argv.splice(2, 0, "test/hosts/main.ts");
await import("./run-ts.mjs");
