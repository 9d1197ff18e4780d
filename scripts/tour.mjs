/**
 * `npm run tour`: installs what is missing, then plays test/tour/main.ts, in this very process.
 * package.json says `exec node …`, so that a Ctrl-C reaches the tour and nobody in between.
 */
import { install } from "./install.mjs";

install();
process.argv.splice(2, 0, "test/tour/main.ts");
await import("./run-ts.mjs");
