/**
 * The words of `rollcall acp`: flags of ours up to `--`, and behind it the agent's command, which
 * is nobody's business. Read by hand: an editor waits, and a parser takes longer to load than all
 * that the proxy does before the agent runs.
 */
import { INJECTIONS, type Injection } from "../../wires/acp/proxy/injection.ts";

export interface ProxyCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly injection: Injection;
  /** Where the daemon is, or the context that says so, if not where it usually is. */
  readonly url: string | undefined;
  readonly context: string | undefined;
  /** Where status files are, if not where they usually are. */
  readonly folder: string | undefined;
  /** Where the conversation is written down, if it is. */
  readonly recording: string | undefined;
}

/** Whether these words (behind `acp`) mean the proxy: all else has no `--`, or a name before it. */
export function isProxyCall([first = "", ...rest]: readonly string[]): boolean {
  if (first === "--" || FLAG.test(first)) return true;
  return (first.startsWith("--") || NAMES.includes(first)) && rest.includes("--");
}

/** Its name, if one wants to say it, and that of the one that also writes the conversation down. */
const NAMES = ["run", "record"];

type AcpFlag = "inject" | "url" | "context" | "status-dir" | "dir";

/** `--flag=value` and `--flag value`; --dir is the older name of --status-dir. */
const FLAG = /^--(inject|url|context|(?:status-)?dir)(?:=(.*))?$/s;

const MISSING = "the agent's command is missing behind --, as in: rollcall acp -- gemini --acp";

/** The parsed call, or an error text for the user. */
export function readProxyCall(words: readonly string[]): ProxyCall | string {
  const end = words.indexOf("--");
  if (end === -1) return MISSING;
  const [name, ...others] = words.slice(0, end);
  const ours = name === "run" ? others : words.slice(0, end);
  const [command, ...args] = words.slice(end + 1);
  const recording = ours[0] === "record" ? recordingOf(ours) : undefined;
  if (ours[0] === "record" && recording === undefined) return "record needs a FILE before --";
  if (command === undefined || command === "") return MISSING;
  const flags = flagsOf(recording === undefined ? ours : ours.slice(2));
  if (typeof flags === "string") return flags;
  const injection = INJECTIONS.find((each) => each === (flags.inject ?? "off"));
  if (!injection) return `--inject is "${flags.inject}": not one of ${INJECTIONS.join(", ")}`;
  return {
    command,
    args,
    injection,
    url: flags.url,
    context: flags.context,
    folder: flags["status-dir"] ?? flags.dir,
    recording,
  };
}

function recordingOf([, file]: readonly string[]): string | undefined {
  return !file || file.startsWith("--") ? undefined : file;
}

function flagsOf(words: readonly string[]): Partial<Record<AcpFlag, string>> | string {
  const flags: Partial<Record<AcpFlag, string>> = {};
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? "";
    const [, name, given] = FLAG.exec(word) ?? [];
    if (name === undefined) return `there is no flag ${word}; the agent's command goes behind --`;
    const value = given ?? words[(i += 1)];
    if (value === undefined || value === "") return `--${name} has no value`;
    flags[name as AcpFlag] = value;
  }
  return flags;
}
