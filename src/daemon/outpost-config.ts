/** The settings of a daemon that reports to a team's: to which one, what leaves, what comes in. */
import { realpathSync } from "node:fs";
import { RollcallError } from "../core/errors.ts";
import { isLoopbackHost } from "../net/loopback.ts";
import { parseUrl } from "../net/http/url.ts";
import type { SharePolicy } from "../wires/outpost/policy.ts";
import type { Values } from "./config-schema.ts";

export interface OutpostConfig {
  /** Of the team's daemon, without a slash at the end. */
  readonly url: string;
  readonly tokenFile: string;
  /** Authorities that sign the team's certificate, PEM; absent: those of this system. */
  readonly caFile: string | undefined;
  readonly policy: SharePolicy;
}

/** By default agents, their status and their questions go up, and answers come down. */
const DEFAULT_SHARE = "questions";
const DEFAULT_ACCEPT = "answers";

type OutpostPath = "token_file" | "join_ca";

export interface OutpostPaths {
  path(name: OutpostPath): string | undefined;
  /** A pattern of folders, from the home where it begins so; one that begins with * as it is. */
  pattern(text: string): string;
}

/** Nothing for a daemon that reports to nobody. */
export function outpostConfig(values: Values, paths: OutpostPaths): OutpostConfig | undefined {
  const { join: given } = values;
  const tokenFile = paths.path("token_file");
  if (given === undefined) return needless(values);
  const url = parseUrl(given, "join");
  if (tokenFile === undefined) {
    const fix = "rollcall tokens create NAME --role outpost --host HOST, on the team's daemon";
    throw wrong(`join needs token_file beside it: the token of an outpost (${fix})`);
  }
  const place = new URL(url);
  if (place.protocol === "http:" && !isLoopbackHost(place) && values.insecure !== true) {
    const ways = "use https, or an SSH tunnel to a port of this machine";
    throw wrong(`join is ${url}: the token could be read on its way; ${ways}, or set insecure`);
  }
  return {
    url,
    tokenFile,
    caFile: paths.path("join_ca"),
    policy: {
      share: values.share ?? DEFAULT_SHARE,
      accept: values.accept ?? DEFAULT_ACCEPT,
      exclude: (values.share_exclude ?? []).flatMap((each) => namesOf(paths.pattern(each))),
      redact: values.redact ?? [],
    },
  };
}

/** An agent tells where it works as the system does: where links lead. */
function namesOf(folder: string): readonly string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])];
  } catch {
    return [folder];
  }
}

/** Refuses settings of an outpost on a daemon that is none. */
function needless(values: Values): undefined {
  const names = ["token_file", "join_ca", "share", "share_exclude", "redact", "accept"] as const;
  const given = names.find((name) => values[name] !== undefined);
  if (given !== undefined) throw wrong(`${given} is for an outpost: it needs join beside it`);
  return undefined;
}

function wrong(message: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", message);
}
