/**
 * One JSON-RPC message, as far as anybody here looks into it. What came over the wire is `unknown`
 * and is only ever read by these functions: own fields, of the type that is asked for, or nothing.
 */
import { field } from "../../../core/text.ts";
import { MEMORY } from "./limits.ts";

/** The sender. Ids are counted per sender: both may have a request 2 open at the same time. */
export type FrameSender = "client" | "agent";

export type FrameId = string | number;

export type AcpFrame =
  | {
      readonly kind: "request";
      readonly id: FrameId;
      readonly method: string;
      readonly params: unknown;
    }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "result"; readonly id: FrameId; readonly result: unknown }
  /** Without an id where the other side could not tell what it answers. */
  | { readonly kind: "error"; readonly id: FrameId | null; readonly error: unknown };

/** Anything that is no message of JSON-RPC 2.0, batches among them, is nothing. */
export function readFrame(value: unknown): AcpFrame | undefined {
  const method = idText(value, "method");
  const id = idIn(value, "id");
  if (method !== undefined) {
    const params = field(value, "params");
    if (field(value, "id") === undefined) return { kind: "notification", method, params };
    return id === undefined ? undefined : { kind: "request", id, method, params };
  }
  const error = field(value, "error");
  if (error !== undefined && error !== null) return { kind: "error", id: id ?? null, error };
  if (id === undefined || field(value, "result") === undefined) return undefined;
  return { kind: "result", id, result: field(value, "result") };
}

/** `1` and `"1"` are two requests. */
export function requestKey(id: FrameId): string {
  return `${typeof id === "number" ? "n" : "s"}${id}`;
}

export function textIn(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" ? found : undefined;
}

export function numberIn(value: unknown, name: string): number | undefined {
  const found = field(value, name);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

export function listIn(value: unknown, name: string): readonly unknown[] {
  const found = field(value, name);
  return Array.isArray(found) ? found : [];
}

/** The name of a method, a session, a tool call …: a text that is not empty and not too long. */
export function idText(value: unknown, name: string): string | undefined {
  const found = textIn(value, name);
  if (found === undefined || found === "" || found.length > MEMORY.idLength) return undefined;
  return found;
}

function idIn(value: unknown, name: string): FrameId | undefined {
  return numberIn(value, name) ?? idText(value, name);
}
