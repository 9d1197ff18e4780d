/** How a command of `agent-status` is called: the line above a complaint, and the help. */
import { flagNames, type Option, type Syntax } from "./arguments.ts";

const COLUMNS = 78;

export function usageOf({ program, options, word }: Syntax): string {
  const parts = ["[-h]", ...options.map(partOf)];
  const start = `usage: ${program}`;
  const words = word === undefined ? [] : [word];
  const whole = [start, ...parts, ...words].join(" ");
  if (whole.length <= COLUMNS) return whole;
  const indent = " ".repeat(start.length);
  return [...filled(start, indent, parts), ...filled(indent, indent, words)].join("\n");
}

export function helpOf(syntax: Syntax): string {
  const { about, options, word } = syntax;
  const rows = [
    ["-h, --help", "show this"] as const,
    ...options.map((option) => [namedIn(option), option.help] as const),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const flags = rows.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`.trimEnd());
  const words = word === undefined ? [] : ["positional arguments:", `  ${word}`, ""];
  return [usageOf(syntax), "", about, "", ...words, "options:", ...flags].join("\n");
}

function namedIn(option: Option): string {
  const names = flagNames(option);
  return takesValue(option) ? `${option.flag} ${valueOf(option)}` : names.join(", ");
}

function partOf(option: Option): string {
  const part = takesValue(option)
    ? `${option.flag} ${valueOf(option)}`
    : flagNames(option).join(" | ");
  return option.isRequired ? part : `[${part}]`;
}

function takesValue({ kind }: Option): boolean {
  return kind !== "switch" && kind !== "toggle";
}

function valueOf({ flag, choices }: Option): string {
  return choices ? `{${choices.join(",")}}` : flag.slice(2).replaceAll("-", "_").toUpperCase();
}

function filled(start: string, indent: string, parts: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let line = start;
  for (const part of parts) {
    const isFull = line.length + 1 + part.length > COLUMNS && line.trim() !== "";
    if (isFull) lines.push(line);
    line = `${isFull ? indent : line} ${part}`;
  }
  return parts.length === 0 ? [] : [...lines, line];
}
