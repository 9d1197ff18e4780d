/**
 * `npm run bench AREA`: installs and builds what is missing, then runs bench/AREA.ts, in this very
 * process; with `-- --against COMMIT` in turns with the bench of that commit (bench/against).
 * `npm run bench -- --quick`, without an area, looks at all of them in a minute (bench/quick.ts).
 */
import { install } from "./install.mjs";

install();
await import("./build.mjs");
if (process.argv[2] === "--quick") process.argv[2] = "quick";
const isComparison = process.argv.includes("--against");
process.argv.splice(2, 0, isComparison ? "bench/against/main.ts" : "bench");
await import("./run-ts.mjs");
