/**
 * The words of a command line in the order that the parser wants: what stands before the command
 * (`rollcall --url X events`) goes behind it; `--version`, `help COMMAND`, `at TIME COMMAND`, a
 * group without a command and other words for a command become what they mean.
 */
import { entriesOf, groupOf, type CommandGroup, type Program } from "./program.ts";

export function normalise(words: readonly string[], program: Program): readonly string[] {
  const [first, ...rest] = words;
  if (first === "--version" || first === "-V") return ["version", ...rest];
  if (first === "help") return normalise([...rest, "--help"], program);
  const entries = entriesOf(program);
  const at = words.findIndex((word) => Object.hasOwn(entries, word));
  const isLed =
    at > 0 && words.slice(0, at).every((word, i) => i % 2 === 1 || word.startsWith("--"));
  if (at !== 0 && !isLed) return words;
  const flags = words.slice(0, at);
  const [named = "", ...behind] = words.slice(at);
  const now: LookBack = { word: named, when: [], after: behind };
  const { word, when, after } = (named === "at" && pastOf(behind)) || now;
  const [command, others] = commandOf(groupOf(program, word), after);
  return [word, ...command, ...flags, ...when, ...others];
}

/** The commands that can show a moment of the past: `at 14:03 ls` is `ls --at 14:03`. */
export const PAST_COMMANDS: readonly string[] = ["ls", "explain", "inbox", "jobs"];

interface LookBack {
  readonly word: string;
  /** The flag for the moment, if it is one of the past. */
  readonly when: readonly string[];
  readonly after: readonly string[];
}

function pastOf(words: readonly string[]): LookBack | undefined {
  const at = words.findIndex((word) => PAST_COMMANDS.includes(word));
  const time = words.slice(0, at);
  if (at < 1 || time.some((word) => word.startsWith("-"))) return undefined;
  return { word: words[at] ?? "", when: ["--at", time.join(" ")], after: words.slice(at + 1) };
}

type Split = readonly [command: readonly string[], rest: readonly string[]];

/** The command of a group: the one that is named, or the usual one when only flags follow. */
function commandOf(group: CommandGroup | undefined, after: readonly string[]): Split {
  const [next, ...rest] = after;
  if (!group) return [[], after];
  const named = next === undefined ? undefined : namedIn(group, next);
  if (named !== undefined) return [[named], rest];
  const isOther = next !== undefined && (!next.startsWith("-") || HELP.includes(next));
  return isOther ? [[], after] : [[group.usual], after];
}

const HELP = ["--help", "-h"];

/** Names that other programs give a command; the first one that a group has is meant. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["list", "ls"],
  ["get", "show"],
  ["delete", "rm", "remove", "deregister", "release"],
  ["cancel", "stop"],
];

function namedIn({ commands }: CommandGroup, word: string): string | undefined {
  if (Object.hasOwn(commands, word)) return word;
  const same = SYNONYMS.find((each) => each.includes(word)) ?? [];
  return same.find((each) => Object.hasOwn(commands, each));
}
