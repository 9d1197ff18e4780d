/**
 * `npm run bench AREA`: installs and builds what is missing, then runs bench/AREA.ts, in this very
 * process; with `-- --against COMMIT` in turns with the bench of that commit (bench/against).
 */
import { install } from "./install.mjs";

install();
await import("./build.mjs");
const isComparison = process.argv.includes("--against");
process.argv.splice(2, 0, isComparison ? "bench/against/main.ts" : "bench");
await import("./run-ts.mjs");
