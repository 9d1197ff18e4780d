/** What the requests of all wires have in common. */
import { field } from "../../../src/core/text.ts";
import type { Tool } from "./plan.ts";

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function toolOf(name: unknown, schema: unknown): Tool {
  const parameters = field(schema, "properties");
  return { name: stringOf(name), parameters: (parameters ?? {}) as Tool["parameters"] };
}

/** The text of a message: a string, or parts of which some have one. Reminders are not in it. */
export function proseOf(content: unknown): string {
  const parts = typeof content === "string" ? [content] : listOf(content);
  return parts
    .map((part) => stringOf(typeof part === "string" ? part : field(part, "text")))
    .join("\n")
    .replaceAll(/<system-reminder>[^]*?<\/system-reminder>/g, "");
}

let count = 0;

export function freshId(prefix: string): string {
  count += 1;
  return `${prefix}_${count}`;
}
