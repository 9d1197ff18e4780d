/**
 * House rules that one line can break. Where a rule makes the code worse, break it and say why on
 * the line or the one above it: `// tidy-allow sleep: the kernel's clock is what is tested`.
 */
import type { Source } from "./source.ts";

interface LineRule {
  readonly name: string;
  readonly applies: (source: Source) => boolean;
  /** Whether comments count too. */
  readonly comments: boolean;
  readonly broken: RegExp;
  readonly instead: string;
}

const isCore = ({ path, isTest }: Source) => path.startsWith("src/core/") && !isTest;

const LINE_RULES: readonly LineRule[] = [
  {
    name: "width",
    applies: () => true,
    comments: true,
    broken: /^.{101}/u,
    instead: "break the line before column 100",
  },
  {
    name: "later",
    applies: () => true,
    comments: true,
    broken: /\b(?:TO[D]O|FIX[M]E|HAC[K]|XX[X])\b/,
    instead: "do it, or open an issue",
  },
  {
    name: "clock",
    applies: isCore,
    comments: false,
    broken: /\b(?:Date\.now|new Date\(\)|performance\.|setTimeout|setInterval)/,
    instead: "core has no clock: take the time as an argument",
  },
  {
    name: "chance",
    applies: isCore,
    comments: false,
    broken: /\b(?:Math\.random|crypto\.|process\.)/,
    instead: "core has no chance and no surroundings: take it as an argument",
  },
  {
    name: "sleep",
    applies: ({ isTest }) => isTest,
    comments: false,
    broken: /\bset(?:Timeout|Interval)\(|timers\/promise[s]|\bAtomics\.wait\(/,
    instead: "wait for what should happen (an event, vi.waitFor), or use a fake clock",
  },
];

export function brokenLines(source: Source): readonly string[] {
  return LINE_RULES.filter((rule) => rule.applies(source)).flatMap((rule) =>
    (rule.comments ? source.lines : source.code).flatMap((line, index) =>
      rule.broken.test(line) && !isAllowed(source, rule.name, index)
        ? [`${source.path}:${index + 1} ${rule.name}: ${rule.instead}`]
        : [],
    ),
  );
}

function isAllowed({ lines }: Source, rule: string, index: number): boolean {
  return [lines[index - 1], lines[index]].some((line) =>
    new RegExp(`// tidy-allow ${rule}: \\S.{8}`).test(line ?? ""),
  );
}

/** A path of the machine this was written on; nobody else has it. */
const MACHINE_PATH = /(?<![\w.*)\]}>-])\/(?:work|root|tmp)(?=[/"'`\s]|$)/;

export function machinePaths(path: string, text: string): readonly string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      MACHINE_PATH.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [],
    );
}
