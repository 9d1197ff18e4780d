/**
 * The ways a notice reaches a person. None of them goes through a shell, none lets the text of an
 * agent become anything but text, and none outlives its signal.
 */
import { spawn } from "node:child_process";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import type { Notice } from "./notice.ts";
import type { Environment } from "../machine/surroundings.ts";

export interface NoticeChannel {
  readonly name: string;
  deliver(notice: Notice, signal: AbortSignal): Promise<void>;
}

export interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** A bell, or with OSC 9 a message of the terminal itself; nothing where there is no terminal. */
export function terminalChannel(terminal: Terminal, form: "bell" | "osc9"): NoticeChannel {
  return {
    name: form,
    deliver({ title, text }) {
      // Our name first: a digit there would be another command.
      const message = `\u001b]9;rollcall: ${title}: ${text}\u0007`;
      const sequence = form === "bell" ? "\u0007" : message;
      if (terminal.isTTY) terminal.write(sequence);
      return Promise.resolve();
    },
  };
}

export type Runner = (
  argv: readonly string[],
  options: { readonly env: Environment; readonly signal: AbortSignal },
) => Promise<void>;

/** `notify-send` of the freedesktop world, or macOS by AppleScript that takes its words as such. */
export function desktopChannel(
  platform: NodeJS.Platform = process.platform,
  run: Runner = runProgram,
): NoticeChannel {
  return {
    name: "desktop",
    deliver({ title, text }, signal) {
      const argv =
        platform === "darwin"
          ? ["osascript", ...APPLE_SCRIPT.flatMap((line) => ["-e", line]), "--", title, text]
          : ["notify-send", "--app-name=rollcall", "--", title, withoutMarkup(text)];
      return run(argv, { env: process.env, signal });
    },
  };
}

const APPLE_SCRIPT = [
  "on run words",
  "display notification (item 2 of words) with title (item 1 of words)",
  "end run",
];

/** Desktops read a few tags in the text. */
function withoutMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A program of the user's: it finds what happened in its environment. */
export function commandChannel(argv: readonly string[], run: Runner = runProgram): NoticeChannel {
  if (!argv[0]) throw invalidArgument("the command to notify with is empty");
  return {
    name: "command",
    deliver({ title, text, needs }, signal) {
      const [first] = needs;
      const env = {
        ...process.env,
        ROLLCALL_TITLE: title,
        ROLLCALL_TEXT: text,
        ROLLCALL_COUNT: String(needs.length),
        ROLLCALL_AGENT: first?.agentId ?? "",
        ROLLCALL_WORKSPACE: first?.workspace ?? "",
        ROLLCALL_REASON: first?.reason ?? "",
        ROLLCALL_QUESTION: first?.question ?? "",
      };
      return run(argv, { env, signal });
    },
  };
}

const runProgram: Runner = async (argv, { env, signal }) => {
  const [program = "", ...args] = argv;
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { env, signal, stdio: "ignore", killSignal: "SIGKILL" });
    child.on("error", (error) => {
      reject(new RollcallError("UNAVAILABLE", `cannot run ${program}`, { cause: error }));
    });
    child.on("close", (code, killed) => {
      if (code === 0) resolve();
      else reject(new RollcallError("UNAVAILABLE", `${program} ended with ${killed ?? code}`));
    });
  });
};

export type Connector = (url: URL, init: RequestInit) => Promise<Response>;

/** A POST of JSON. The address may hold a secret, so only its host is ever named. */
export function webhookChannel(address: string, connect: Connector = fetch): NoticeChannel {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw invalidArgument("the webhook is not an http:// or https:// URL");
  }
  return {
    name: "webhook",
    async deliver({ title, text, needs }, signal) {
      const response = await connect(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ title, text, needs }),
        redirect: "error",
        signal,
      }).catch((error: unknown) => {
        const message = `cannot reach the webhook at ${url.host}`;
        throw new RollcallError("UNAVAILABLE", message, { cause: error });
      });
      await response.body?.cancel();
      if (response.ok) return;
      const message = `the webhook at ${url.host} answered ${response.status}`;
      throw new RollcallError("UNAVAILABLE", message);
    },
  };
}
