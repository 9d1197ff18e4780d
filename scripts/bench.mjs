/**
 * `npm run bench AREA`: installs and builds what is missing, then runs bench/AREA.ts, in this very
 * process; with `-- --against COMMIT` in turns with the bench of that commit (bench/against).
 * `npm run bench -- --quick`, without an area, looks at all of them in a minute (bench/quick.ts).
 */
import { readdirSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { install } from "./install.mjs";
import { root } from "./root.mjs";

/** What the benches share, and the one without an area. */
const NO_AREAS = ["measure", "quick"];

if (["--help", "-h", undefined].includes(process.argv[2])) {
  const files = readdirSync(join(root, "bench")).filter((file) => extname(file) === ".ts");
  const names = files.map((file) => basename(file, ".ts"));
  const areas = names.filter((name) => !NO_AREAS.includes(name)).join(" ");
  console.log(`Measures one area beside what it is compared with, and says what misses its target.

  npm run bench AREA                        the area: ${areas}
  npm run bench AREA -- --quick             without peers and long waits
  npm run bench AREA -- --write             and writes its tables into docs/performance.md
  npm run bench AREA -- --against COMMIT    in turns with the same bench of that commit
      --rounds 5  --at-least 0.95  --full   so often; fail below it; with peers and long waits
      --same-load                           measured by this tree's bench, not by the commit's own
  npm run bench -- --quick                  every floor once, in half a minute`);
  process.exit(process.argv[2] === undefined ? 2 : 0);
}
install();
await import("./build.mjs");
if (process.argv[2] === "--quick") process.argv[2] = "quick";
const isComparison = process.argv.includes("--against");
process.argv.splice(2, 0, isComparison ? "bench/against/main.ts" : "bench");
await import("./run-ts.mjs");
