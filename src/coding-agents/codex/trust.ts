/**
 * Whether Codex runs our hooks. It skips, without a word, every hook that a person did not trust in
 * its `/hooks`, and keeps what was trusted in config.toml: by the place of each hook in its file,
 * with a hash of what it does. One that moved or changed is as one that is new.
 */
import { createHash } from "node:crypto";
import { parse } from "smol-toml";
import type { OwnHook } from "../install/hook-settings.ts";
import { field } from "../../core/text.ts";

export interface Trust {
  readonly trusted: number;
  readonly untrusted: number;
}

/** Of hooks in the file at `path`, by the text of config.toml. */
export function trustIn(toml: string, path: string, hooks: readonly OwnHook[]): Trust {
  const states = field(field(parseIfPossible(toml), "hooks"), "state");
  const trusted = hooks.filter((hook) => {
    const key = `${path}:${snakeCase(hook.event)}:${hook.group}:${hook.index}`;
    return field(field(states, key), "trusted_hash") === hashOf(hook);
  });
  return { trusted: trusted.length, untrusted: hooks.length - trusted.length };
}

function parseIfPossible(toml: string): unknown {
  try {
    return parse(toml);
  } catch {
    return undefined;
  }
}

/** Of the hook alone, as JSON without blanks and with the keys in order. */
function hashOf({ event, command, timeout }: OwnHook): string {
  const handler = { async: false, command, timeout, type: "command" };
  const json = JSON.stringify({ event_name: snakeCase(event), hooks: [handler] });
  return `sha256:${createHash("sha256").update(json).digest("hex")}`;
}

function snakeCase(event: string): string {
  return event.replaceAll(/\B[A-Z]/gu, "_$&").toLowerCase();
}
