/**
 * The operator's log on standard error: a line of JSON for machines, a line of text on a terminal.
 * Never a header, a query or a body: secrets travel in those.
 */
import { pino, type Logger } from "pino";
import type { LogLevel } from "./settings.ts";

export type { Logger } from "pino";

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Where lines go: standard error, unless a test looks at them. */
  readonly write?: (line: string) => void;
  readonly isTerminal?: boolean;
}

const NAMES: Readonly<Record<number, string>> = pino.levels.labels;

export function createLogger(options: LoggerOptions): Logger {
  const { level, isTerminal = process.stderr.isTTY } = options;
  const write = options.write ?? ((line) => process.stderr.write(line));
  const stream = { write: isTerminal ? (line: string) => write(readable(line)) : write };
  return pino({ level, base: {}, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

/** `12:30:01 WARN could not lead: the disk is full node=solo` */
function readable(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const at = String(time).slice(11, 19);
  const name = (NAMES[Number(level)] ?? "").toUpperCase();
  const details = Object.entries(rest).map(([key, value]) => ` ${key}=${shown(value)}`);
  return `${at} ${name} ${shown(msg)}${problem(err)}${details.join("")}\n`;
}

function problem(err: unknown): string {
  if (typeof err !== "object" || !err || !("message" in err)) return "";
  return `: ${shown(err.message)}`;
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // Foreign text must not move the cursor or start a new line.
  return text.replaceAll(/\p{Cc}/gu, " ");
}
