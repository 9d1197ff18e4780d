/** Checks of the runtime: Node, SQLite, and environment variables that affect them. */
import { connect } from "../../log/sqlite/driver.ts";
import { SETTINGS } from "../../daemon/settings.ts";
import { fail, ok, problemText, warn, type Check, type Finding } from "./finding.ts";

const OLDEST_NODE = [20, 19] as const;

/** Variables of ours that are no settings of the daemon. */
const OTHER_VARIABLES = [
  "ROLLCALL_URL",
  "ROLLCALL_CONTEXT",
  "ROLLCALL_TOKEN",
  "ROLLCALL_DEBUG",
  "ROLLCALL_AGENT_ID",
  "ROLLCALL_AGENT_KEY",
  "ROLLCALL_EMBEDDER_KEY",
];

export const checkNode: Check = async () => [nodeFinding(process.versions.node)];

export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  const isNewEnough = major > oldest || (major === oldest && minor >= oldestMinor);
  if (isNewEnough) return ok("node", version);
  const what = `${version} is too old: ${OLDEST_NODE.join(".")} is the oldest that works`;
  return fail("node", what, "install Node 22 or newer");
}

export const checkSqlite: Check = async () => {
  try {
    const database = await connect(":memory:");
    const row = database.prepare<{ v: string }>("SELECT sqlite_version() AS v").get();
    database.close();
    return [ok("sqlite", row?.v ?? "there")];
  } catch (error) {
    const fix = "use Node 22.13 or newer, or: npm install @photostructure/sqlite";
    return [fail("sqlite", problemText(error), fix)];
  }
};

export const checkEnvironment: Check = async ({ env }) => {
  const findings: Finding[] = [];
  if (env["NODE_EXTRA_CA_CERTS"]) {
    const what = "NODE_EXTRA_CA_CERTS is set: it slows the start of every command";
    findings.push(warn("environment", what, "unset NODE_EXTRA_CA_CERTS where it is not needed"));
  }
  if (/--(?:inspect|require|import|loader)/.test(env["NODE_OPTIONS"] ?? "")) {
    const what = `NODE_OPTIONS is "${env["NODE_OPTIONS"]}": it loads more into every command`;
    findings.push(warn("environment", what, "unset NODE_OPTIONS"));
  }
  const known = SETTINGS.flatMap((each) => [each.env, ...each.aliases.map((alias) => alias.env)]);
  const strangers = Object.keys(env).filter(
    (name) => name.startsWith("ROLLCALL_") && ![...known, ...OTHER_VARIABLES].includes(name),
  );
  for (const name of strangers) {
    findings.push(
      warn("environment", `${name} is not a setting and has no effect`, `unset ${name}`),
    );
  }
  return findings.length > 0 ? findings : [ok("environment", "no variable that causes trouble")];
};
