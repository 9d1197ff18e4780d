/**
 * `rollcall doctor`: looks at everything that a start or a command needs and says for each whether
 * it is well and, if not, what to do. It changes nothing.
 */
import { buildCommand } from "@stricli/core";
import { loadConfig } from "../../daemon/config.ts";
import { LOCAL_CONTEXT } from "../../net/http/contexts.ts";
import { findTarget, type Target } from "../../net/http/target.ts";
import { DEFAULT_URL } from "../../net/http/url.ts";
import { connect } from "../../wires/api/client/client.ts";
import { lookUp } from "../api.ts";
import type { Context } from "../context.ts";
import { checkCodingAgents } from "../doctor/coding-agents.ts";
import { checkDaemon } from "../doctor/doors.ts";
import { fail, ok, problemText, type Check, type Finding } from "../doctor/finding.ts";
import { checkEnvironment, checkNode, checkSqlite } from "../doctor/runtime.ts";
import { checkDatabase, checkDeep, checkState } from "../doctor/state.ts";
import { EXIT } from "../exit.ts";
import { databaseFlags, type DatabaseFlags } from "../database.ts";
import { daemonFlags, jsonFlag, switchFlag, type DaemonFlags } from "../flags.ts";
import { about } from "../help.ts";
import { spokenFlags } from "../settings.ts";
import { clean } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { hanging, padEnd } from "../terminal/width.ts";

interface Flags extends DaemonFlags, DatabaseFlags {
  readonly deep?: boolean;
  readonly json?: boolean;
}

const CHECKS: readonly Check[] = [
  checkNode,
  checkSqlite,
  checkEnvironment,
  checkState,
  checkDatabase,
  checkDaemon,
  checkCodingAgents,
];

export const doctor = buildCommand<Flags, [], Context>({
  docs: about(
    "Look at everything that the daemon and the commands need, and say what is wrong and how\n" +
      "to fix it. Changes nothing. Ends with 0 when nothing failed, else with 1.",
    { call: "rollcall doctor", does: "of the daemon that `rollcall up` would start" },
    { call: "rollcall doctor --data-dir DIR", does: "with its state elsewhere" },
    { call: "rollcall doctor --deep", does: "reads and checks the whole database, too" },
    { call: "rollcall doctor --json", does: "for a program" },
  ),
  parameters: {
    flags: {
      ...databaseFlags,
      deep: switchFlag("Read and check the whole database"),
      json: jsonFlag,
      ...daemonFlags,
    },
  },
  async func({ json, deep = false, config, dataDir, ...daemon }) {
    const checks = deep ? [...CHECKS, checkDeep] : CHECKS;
    const scene = { checks, flags: spokenFlags({ config, dataDir }), ofDaemon: daemon };
    const findings = await examine(this, scene);
    if (json) await this.out.line(JSON.stringify(summary(findings)));
    else await show(this, findings);
    if (findings.some(({ verdict }) => verdict === "fail")) this.endWith(EXIT.nothingFound);
  },
});

interface Examination {
  readonly checks: readonly Check[];
  readonly flags: Record<string, string>;
  readonly ofDaemon: DaemonFlags;
}

async function examine(
  { env }: Context,
  { checks, flags, ofDaemon }: Examination,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const config = await loadConfig({ flags, env }).catch((error: unknown) => {
    findings.push(fail("config", problemText(error), "correct it, or leave it out"));
    return undefined;
  });
  const target = targetOf(ofDaemon, env, findings);
  await using client = connect(target);
  const daemon = await lookUp(client, "daemon.status", { input: {} }).catch(
    (error: unknown) => error as Error,
  );
  const scene = { env, config, target, daemon, nowMs: Date.now() };
  // One after the other: each may use the disk and the ports that the next one looks at.
  for (const check of checks) findings.push(...(await check(scene)));
  return findings;
}

/** The daemon that commands talk to; where that cannot be told, this machine's. */
function targetOf(flags: DaemonFlags, env: Context["env"], findings: Finding[]): Target {
  try {
    const target = findTarget(flags, env);
    const { url, context = LOCAL_CONTEXT } = target;
    if (context !== LOCAL_CONTEXT) {
      findings.push(ok("context", `${context}: commands talk to ${url}, not to this machine`));
    }
    return target;
  } catch (error) {
    findings.push(
      fail("context", problemText(error), "rollcall context use local, or log in again"),
    );
    return { url: DEFAULT_URL, socket: false };
  }
}

function summary(findings: readonly Finding[]) {
  const count = (verdict: Finding["verdict"]) =>
    findings.filter((each) => each.verdict === verdict).length;
  return { ok: count("ok"), warn: count("warn"), fail: count("fail"), findings };
}

const STYLES: Readonly<Record<Finding["verdict"], Style>> = {
  ok: "green",
  warn: "yellow",
  fail: "red",
};

const FIX = "fix:";

async function show({ out }: Context, findings: readonly Finding[]): Promise<void> {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { verdict, check, what, fix } of findings) {
    const mark = out.paint(STYLES[verdict], padEnd(verdict, 4));
    const indent = width + 8;
    await out.line(
      `${mark}  ${padEnd(check, width)}  ${hanging(clean(what), indent, out.columns)}`,
    );
    if (fix !== undefined) {
      const text = hanging(clean(fix), indent + FIX.length + 1, out.columns);
      await out.line(`${" ".repeat(indent)}${out.paint("dim", FIX)} ${text}`);
    }
  }
  await out.line();
  await out.line(verdictOf(findings));
}

function verdictOf(findings: readonly Finding[]): string {
  const { fail: failed, warn: warned } = summary(findings);
  const warnings = warned === 0 ? "" : `${warned} warning${warned === 1 ? "" : "s"}`;
  if (failed === 0) return warnings ? `Nothing is broken, ${warnings}.` : "All is well.";
  const problems = `${failed} problem${failed === 1 ? "" : "s"}`;
  return warnings ? `${problems}, ${warnings}.` : `${problems}.`;
}
