/**
 * What the two real clients insist on, as the page lists it: a frame that breaks one of these hangs
 * the TypeScript client or kills the Python one. Returns everything that is wrong.
 */
import { isArcpCode } from "../../../src/wires/arcp/codec/errors.ts";

type Json = Readonly<Record<string, unknown>>;

const PY_ID = /^(?:[a-z]+_)?[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const STATES = ["pending", "running", "success", "error", "cancelled", "timed_out"];

/** Fields that the TypeScript client takes as absent, never as null. */
const NEVER_NULL = [
  "details heartbeat_interval_sec lease_constraints budget trace_id",
  "delegate_id filter limit reason",
].flatMap((line) => line.split(" "));

class Checks {
  readonly wrong: string[] = [];

  must(holds: boolean, what: string): void {
    if (!holds) this.wrong.push(what);
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isMatch(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isOneOf(value: unknown, ...texts: readonly string[]): boolean {
  return texts.some((text) => text === value);
}

function isWhole(value: unknown, min: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function wrongForTypeScript(text: string): readonly string[] {
  const frame = JSON.parse(text) as Json;
  const payload = frame["payload"] as Json;
  const checks = new Checks();
  const need = (field: string, holds: (value: unknown) => boolean) =>
    checks.must(holds(payload[field]), `payload.${field}`);
  const may = (field: string, holds: (value: unknown) => boolean) =>
    checks.must(payload[field] === undefined || holds(payload[field]), `payload.${field}`);
  checks.must(frame["arcp"] === "1.1", "arcp");
  checks.must(isText(frame["id"]), "id");
  checks.must(isText(frame["session_id"]), "session_id");
  checks.must(isMatch(frame["trace_id"] ?? "0".repeat(32), /^[0-9a-f]{32}$/), "trace_id");
  checks.must(frame["event_seq"] === undefined || isWhole(frame["event_seq"], 0), "event_seq");
  for (const field of NEVER_NULL) checks.must(payload[field] !== null, `payload.${field} is null`);
  const isAmounts = (value: unknown) =>
    isMap(value) && Object.values(value).every((amount) => typeof amount === "number");
  const isError = () => {
    need("code", (code) => typeof code === "string" && isArcpCode(code));
    need("message", isText);
    need("retryable", (value) => typeof value === "boolean");
    may("details", isMap);
    const { code, retryable } = payload;
    if (code === "INTERNAL_ERROR") checks.must(retryable === true, "INTERNAL_ERROR retryable");
    if (code === "LEASE_EXPIRED" || code === "BUDGET_EXHAUSTED") {
      checks.must(retryable === false, "never retryable");
    }
  };
  switch (frame["type"]) {
    case "session.welcome":
      need("runtime", (value) => isMap(value) && isText(value["name"]) && isText(value["version"]));
      need("resume_token", isText);
      need("resume_window_sec", (value) => isWhole(value, 1));
      may("heartbeat_interval_sec", (value) => isWhole(value, 1));
      break;
    case "session.error":
      isError();
      break;
    case "session.jobs":
      checks.must("next_cursor" in payload, "next_cursor is a required key");
      for (const job of payload["jobs"] as readonly Json[]) {
        checks.must(isMap(job["lease"]) && isText(job["created_at"]), "job.lease, created_at");
        checks.must(isWhole(job["last_event_seq"], 0), "job.last_event_seq");
        checks.must(job["trace_id"] !== null, "job.trace_id");
      }
      break;
    case "job.accepted":
      need("job_id", isText);
      need("accepted_at", isText);
      need("lease", isMap);
      may("budget", isAmounts);
      may("parent_job_id", isText);
      break;
    case "job.event":
      need("kind", isText);
      need("ts", isText);
      break;
    case "job.result":
      need("final_status", (status) => status === "success");
      checks.must(!("result" in payload && "result_id" in payload), "result and result_id");
      may("result_size", (size) => isWhole(size, 0));
      break;
    case "job.error":
      isError();
      need("final_status", (status) => isOneOf(status, "error", "cancelled", "timed_out"));
      break;
    case "job.subscribed":
      need("job_id", isText);
      need("current_status", (status) => isOneOf(status, ...STATES));
      need("agent", isText);
      need("lease", isMap);
      may("budget", isAmounts);
      need("subscribed_from", (value) => isWhole(value, 0));
      need("replayed", (value) => typeof value === "boolean");
      break;
  }
  return checks.wrong;
}

export function wrongForPython(text: string): readonly string[] {
  const frame = JSON.parse(text) as Json;
  const payload = frame["payload"] as Json;
  const checks = new Checks();
  const need = (...fields: readonly string[]) =>
    fields.forEach((field) => checks.must(isText(payload[field]), `payload.${field}`));
  checks.must(isMatch(frame["id"], PY_ID), "id");
  const trace = frame["trace_id"];
  const isTrace = isMatch(trace, /^(?!0{32})[0-9a-f]{32}$/);
  checks.must(trace === undefined || isTrace, "trace_id");
  checks.must(frame["event_seq"] === undefined || isWhole(frame["event_seq"], 1), "event_seq");
  switch (frame["type"]) {
    case "session.welcome":
      need("session_id", "resume_token", "accepted_at");
      break;
    case "session.jobs":
      for (const job of payload["jobs"] as readonly Json[]) {
        checks.must(isText(job["submitted_at"]), "job.submitted_at");
      }
      break;
    case "job.accepted": {
      need("job_id", "agent", "accepted_at");
      const amounts = Object.values((payload["budget"] ?? {}) as Json);
      checks.must(amounts.every(isText), "payload.budget");
      break;
    }
    case "job.result":
      need("completed_at");
      checks.must(
        isOneOf(payload["final_status"], "success", "cancelled", "timed_out"),
        "payload.final_status",
      );
      break;
    case "job.error":
      need("completed_at", "code", "message");
      checks.must(payload["final_status"] === "error", "payload.final_status");
      break;
    case "job.subscribed":
      need("request_id", "job_id", "current_status", "agent");
      break;
  }
  return checks.wrong;
}
