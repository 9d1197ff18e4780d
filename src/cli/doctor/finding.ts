/** The result of a check of `rollcall doctor`: one line, and the fix if something is wrong. */
import { errorText } from "../../core/errors.ts";
import type { Config } from "../../daemon/config.ts";
import type { Environment } from "../../machine/surroundings.ts";
import type { Target } from "../../net/http/target.ts";
import type { AnswerOf } from "../../operations/table.ts";

export interface Finding {
  readonly check: string;
  readonly verdict: "ok" | "warn" | "fail";
  readonly what: string;
  readonly fix?: string;
}

/** The subject of the checks: the machine as a daemon started now would find it. */
export interface DoctorScene {
  readonly env: Environment;
  /** Absent when it cannot be read; that is a finding of its own. */
  readonly config: Config | undefined;
  /** Where commands look for the daemon. */
  readonly target: Target;
  /** Its status, or why there is none. */
  readonly daemon: AnswerOf<"daemon.status"> | Error;
  readonly nowMs: number;
}

export type Check = (scene: DoctorScene) => Promise<readonly Finding[]>;

export function ok(check: string, what: string): Finding {
  return { check, verdict: "ok", what };
}

export function warn(check: string, what: string, fix: string): Finding {
  return { check, verdict: "warn", what, fix };
}

export function fail(check: string, what: string, fix: string): Finding {
  return { check, verdict: "fail", what, fix };
}

export function problemText(error: unknown): string {
  return errorText(error);
}
