/** `rollcall context`: the daemons that this user logged in to, and which one commands talk to. */
import { buildCommand } from "@stricli/core";
import { RollcallError } from "../../core/errors.ts";
import {
  checkContextName,
  contextNamed,
  LOCAL_CONTEXT,
  readContexts,
  writeContexts,
  type DaemonContext,
} from "../../net/http/contexts.ts";
import { DEFAULT_URL, parseUrl } from "../../net/http/url.ts";
import type { Context } from "../context.ts";
import { lookOf, note } from "../print.ts";
import { argument, jsonFlag } from "../flags.ts";
import { about } from "../help.ts";
import { tableLines } from "../terminal/table.ts";

interface ContextListFlags {
  readonly json?: boolean;
}

/** As it is shown: never with the token. */
interface ShownContext {
  readonly name: string;
  readonly isCurrent: boolean;
  readonly url: string;
  readonly token: "kept" | "file" | "none";
  readonly certificate: "pinned" | "authority" | "";
}

const list = buildCommand<ContextListFlags, [], Context>({
  docs: about(
    "List the contexts: `local`, the daemon of this machine, and those of `rollcall login`. The " +
      "daemon that a command talks to is, in this order: --url or --context, ROLLCALL_URL or " +
      "ROLLCALL_CONTEXT, the current context. `rollcall up` asks none of them.",
    { call: "rollcall context", does: "all; the current one has a star" },
    { call: "rollcall context list --json", does: "for a program; tokens are not shown" },
  ),
  parameters: { flags: { json: jsonFlag } },
  async func({ json = false }) {
    const { current, byName } = readContexts(this.env);
    const local = { url: parseUrl(this.env["ROLLCALL_HTTP_ADDR"] || DEFAULT_URL) };
    const all = [[LOCAL_CONTEXT, local] as const, ...byName];
    const contexts = all.map(([name, each]) => shownContext(name, each, current));
    if (json) return this.out.line(JSON.stringify({ current, contexts }));
    const columns = [
      { title: "" },
      { title: "NAME", least: 8 },
      { title: "URL", least: 16 },
      { title: "TOKEN" },
      { title: "CERTIFICATE", isExtra: true },
    ];
    const rows = contexts.map(({ name, isCurrent, url, token, certificate }) => {
      return [isCurrent ? "*" : "", name, url, token, certificate];
    });
    for (const line of tableLines(columns, rows, lookOf(this))) await this.out.line(line);
    await noteOverride(this);
  },
});

function shownContext(name: string, context: DaemonContext, current: string): ShownContext {
  const { url, token, tokenFile, caFile, fingerprint } = context;
  return {
    name,
    isCurrent: name === current,
    url,
    token: tokenFile !== undefined ? "file" : token !== undefined ? "kept" : "none",
    certificate: fingerprint !== undefined ? "pinned" : caFile !== undefined ? "authority" : "",
  };
}

/** Warns of variables that override the current context. */
async function noteOverride(context: Context): Promise<void> {
  for (const name of ["ROLLCALL_URL", "ROLLCALL_CONTEXT"]) {
    const value = context.env[name];
    if (value) await note(context, `${name} is ${value}: commands talk to that instead`);
  }
}

const current = buildCommand<NonNullable<unknown>, [], Context>({
  docs: about("Print the name of the context that commands talk to.", {
    call: "rollcall context current",
    does: "for a prompt or a script",
  }),
  parameters: {},
  async func() {
    await this.out.line(this.env["ROLLCALL_CONTEXT"] || readContexts(this.env).current);
    if (this.env["ROLLCALL_URL"]) await noteOverride(this);
  },
});

const NAME = argument("NAME", "The name of the context");

const use = buildCommand<NonNullable<unknown>, [string], Context>({
  docs: about(
    "Make a context the current one: commands talk to its daemon from now on.",
    { call: "rollcall context use team", does: "one of `rollcall login`" },
    { call: "rollcall context use local", does: "the daemon of this machine" },
  ),
  parameters: { positional: { kind: "tuple", parameters: [NAME] } },
  async func(_flags, name) {
    const contexts = readContexts(this.env);
    if (name !== LOCAL_CONTEXT) contextNamed(contexts, name);
    writeContexts({ ...contexts, current: name }, this.env);
    await noteOverride(this);
  },
});

const rename = buildCommand<NonNullable<unknown>, [string, string], Context>({
  docs: about("Rename a context.", { call: "rollcall context rename box team", does: "" }),
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [NAME, argument("NEW", "Its new name")],
    },
  },
  async func(_flags, before, after) {
    const contexts = readContexts(this.env);
    const context = contextNamed(contexts, before);
    const name = checkContextName(after);
    if (name !== before && contexts.byName.has(name)) {
      throw new RollcallError("ALREADY_EXISTS", `there is a context ${name} already`);
    }
    const byName = new Map(contexts.byName);
    byName.delete(before);
    const isCurrent = contexts.current === before;
    writeContexts(
      { current: isCurrent ? name : contexts.current, byName: byName.set(name, context) },
      this.env,
    );
  },
});

const remove = buildCommand<NonNullable<unknown>, [string], Context>({
  docs: about(
    "Remove a context, with the token that is kept in it. The token itself stays good: `rollcall " +
      "tokens revoke` ends it. Where it is the current one, `local` is from now on.",
    { call: "rollcall context remove team", does: "logs out" },
  ),
  parameters: { positional: { kind: "tuple", parameters: [NAME] } },
  async func(_flags, name) {
    const contexts = readContexts(this.env);
    contextNamed(contexts, name);
    const byName = new Map(contexts.byName);
    byName.delete(name);
    const isCurrent = contexts.current === name;
    writeContexts({ current: isCurrent ? LOCAL_CONTEXT : contexts.current, byName }, this.env);
    if (isCurrent) await note(this, "commands talk to the daemon of this machine now");
  },
});

export const context = { list, use, current, rename, remove } as const;
