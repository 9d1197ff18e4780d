/** Starts the uplink of a daemon that reports to a team's, and says in words how it stands. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock } from "../core/clock.ts";
import { codeOf } from "../core/errors.ts";
import type { Accept, Share } from "../core/outposts.ts";
import type { Engine } from "../engine/engine.ts";
import { replaceFile } from "../machine/replace-file.ts";
import { readTextFile, tokenIn } from "../net/http/token.ts";
import type { DaemonStatus } from "../operations/daemon.ts";
import type { SubmitJob } from "../wires/outpost/inbox.ts";
import { TeamLink } from "../wires/outpost/link.ts";
import type { SharePolicy } from "../wires/outpost/policy.ts";
import { Uplink } from "../wires/outpost/uplink.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./logger.ts";

export interface UplinkParts {
  readonly config: Config;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  readonly submit: SubmitJob;
}

/** Nothing for a daemon that reports to nobody. */
export function startUplink(parts: UplinkParts): Uplink | undefined {
  const { config, engine, clock, logger, version, submit } = parts;
  const { outpost } = config;
  if (!outpost) return undefined;
  const { url, tokenFile, caFile, policy } = outpost;
  return new Uplink({
    engine,
    clock,
    url,
    policy,
    submit,
    facts: { instance: instanceOf(config.dataDir), machine: hostname(), version },
    ownHosts: [hostname(), config.node],
    // Read anew for each link: a token that was renewed is used without a restart.
    connect: () =>
      new TeamLink({
        url,
        token: tokenIn(tokenFile, `token_file ${tokenFile}`),
        trust: caFile === undefined ? undefined : { ca: readTextFile(caFile, `join_ca ${caFile}`) },
      }),
    // Why there is none is said as trouble.
    onChange: ({ state, host }) =>
      logger.info({ team: url, ...(host && { host }) }, `the link to the team: ${state}`),
    onTrouble: (what, error) => logger.warn({ code: codeOf(error) }, what),
  });
}

/** One for each folder of state, which only one daemon at a time can have open. */
function instanceOf(dataDir: string | undefined): string {
  const made = randomBytes(16).toString("hex");
  if (dataDir === undefined) return made;
  const path = join(dataDir, "outpost-id");
  const known = readKnown(path);
  if (known !== undefined) return known;
  replaceFile(path, `${made}\n`, 0o600);
  return made;
}

function readKnown(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8").trim();
    return /^[0-9a-f]{32}$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

const SHARED: Readonly<Record<Share, string>> = {
  status: "status",
  questions: "status and questions",
  all: "all",
};

const ACCEPTED: Readonly<Record<Accept, string>> = {
  nothing: "nothing",
  answers: "answers",
  jobs: "answers and jobs",
};

/** "shares status and questions but not of 2 folders, without goals; accepts answers". */
export function policyWords({ share, accept, exclude, redact }: SharePolicy): string {
  const but = exclude.length > 0 ? ` but nothing of ${exclude.join(", ")}` : "";
  const without = redact.length > 0 ? `, without ${redact.join(" and ")}` : "";
  return `shares ${SHARED[share]}${but}${without}; accepts ${ACCEPTED[accept]}`;
}

/** How the link stands, for the status of the daemon. */
export function teamOf({ status }: Uplink, { outpost }: Config): NonNullable<DaemonStatus["team"]> {
  const { url, host, state, sinceMs, reason } = status;
  const policy = outpost ? policyWords(outpost.policy) : "";
  return { url, host, state, since: new Date(sinceMs).toISOString(), reason, policy };
}
