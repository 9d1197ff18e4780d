/** For tests of status files: a whole status, a directory of its own, what changes in it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  SCHEMA_VERSION,
  type Status,
  type StatusRuntime,
} from "../../../src/wires/files/format.ts";

export const NOW_MS = Date.UTC(2026, 5, 20, 16, 45);
export const NOW = "2026-06-20T16:45:00Z";

type Changes = Partial<Omit<Status, "runtime">> & { readonly runtime?: Partial<StatusRuntime> };

/** Running and idle, updated now, unless told otherwise. */
export function statusOf({ runtime, ...changes }: Changes = {}): Status {
  return {
    schema_version: SCHEMA_VERSION,
    agent_id: "pi-1",
    agent_name: "pi",
    ...changes,
    runtime: { lifecycle: "running", updated_at: NOW, ...runtime },
  };
}

/** A directory that is gone after the test. */
export function scratch(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "rollcall-status-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
