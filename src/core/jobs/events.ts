/**
 * The events of a running job: ten kinds of the protocol, and vendors' own.
 *
 * Bodies keep the names of the wire, so that what an agent said is written once and sent as it is.
 * Two vocabularies are about: the specification's and the Python SDK's. Both are read; only the
 * specification's is kept.
 */
import type { JsonRecord } from "../json-object.ts";

export const JOB_LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "critical"] as const;
export type JobLogLevel = (typeof JOB_LOG_LEVELS)[number];

export interface LogBody {
  readonly level: JobLogLevel;
  readonly message: string;
  readonly attributes?: JsonRecord;
}

export interface ThoughtBody {
  readonly text: string;
}

export interface ToolCallBody {
  readonly tool: string;
  readonly args?: unknown;
  readonly call_id: string;
}

export interface ToolResultBody {
  readonly call_id: string;
  readonly result?: unknown;
  readonly error?: ToolError;
}

export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: JsonRecord;
}

/** Besides these two, a phase may bring fields of its own. */
export interface StatusBody extends JsonRecord {
  readonly phase: string;
  readonly message?: string;
}

export interface MetricBody {
  readonly name: string;
  readonly value: number;
  readonly unit?: string;
  readonly dimensions?: Readonly<Record<string, string>>;
}

export interface ArtifactRefBody {
  readonly uri: string;
  readonly content_type: string;
  readonly byte_size?: number;
  readonly sha256?: string;
}

export interface DelegateBody {
  readonly delegate_id?: string;
  readonly agent: string;
  readonly input?: unknown;
  readonly lease_request?: Readonly<Record<string, readonly string[]>>;
  readonly lease_constraints?: { readonly expires_at?: string };
  /** Once the child is known. */
  readonly child_job_id?: string;
}

export interface ProgressBody {
  readonly current: number;
  readonly total?: number;
  readonly units?: string;
  readonly message?: string;
}

export interface ResultChunkBody {
  readonly result_id: string;
  readonly chunk_seq: number;
  readonly data: string;
  readonly encoding: "utf8" | "base64";
  readonly more: boolean;
}

export type JobStreamEvent =
  | { readonly kind: "log"; readonly body: LogBody }
  | { readonly kind: "thought"; readonly body: ThoughtBody }
  | { readonly kind: "tool_call"; readonly body: ToolCallBody }
  | { readonly kind: "tool_result"; readonly body: ToolResultBody }
  | { readonly kind: "status"; readonly body: StatusBody }
  | { readonly kind: "metric"; readonly body: MetricBody }
  | { readonly kind: "artifact_ref"; readonly body: ArtifactRefBody }
  | { readonly kind: "delegate"; readonly body: DelegateBody }
  | { readonly kind: "progress"; readonly body: ProgressBody }
  | { readonly kind: "result_chunk"; readonly body: ResultChunkBody }
  | { readonly kind: VendorKind; readonly body: JsonRecord };

export type VendorKind = `x-vendor.${string}`;

const VENDOR_KIND = /^x-vendor\.[a-z0-9_.-]+$/;

export function isVendorKind(kind: string): kind is VendorKind {
  return VENDOR_KIND.test(kind);
}
