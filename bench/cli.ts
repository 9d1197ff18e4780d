/** What a command costs before it does anything, against node that does nothing. */
import { spawnSync } from "node:child_process";
import { conclude, inTurns, rate, report } from "./measure.ts";

// A machine-wide certificate bundle costs Node 20 most of its start; it is not ours to measure.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

function runOf(args: readonly string[]): () => Promise<number> {
  return () => rate(1, () => void spawnSync(process.execPath, args, { env, stdio: "ignore" }));
}

const built = "dist/bin/rollcall.js";
const [bare = 0, version = 0, help = 0] = await inTurns(
  25,
  runOf(["-e", "0"]),
  runOf([built, "version"]),
  runOf([built, "up", "--help"]),
);
report({ name: "bare node", value: 1000 / bare, unit: "ms" });
report({ name: "rollcall version", value: bare / version, unit: "×", target: { atMost: 2.5 } });
report({ name: "rollcall up --help", value: bare / help, unit: "×", target: { atMost: 3 } });
conclude();
