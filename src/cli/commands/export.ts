/**
 * `rollcall export` and `rollcall import`: policies and tokens as TOML, to keep beside other
 * settings or to carry to another daemon. The daemon keeps no secret of a token: the file has none.
 */
import { existsSync, readFileSync } from "node:fs";
import { buildCommand } from "@stricli/core";
import { parse, stringify } from "smol-toml";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import type { AnswerOf, InputOf } from "../../operations/table.ts";
import type { Client } from "../../wires/api/client/client.ts";
import { call } from "../api.ts";
import type { Context } from "../context.ts";
import { daemonOf } from "../daemon.ts";
import { note } from "../print.ts";
import { argument, daemonFlags, type DaemonFlags } from "../flags.ts";
import { about } from "../help.ts";

const PAGE = 1_000;

type ListedPolicy = AnswerOf<"policies.list">["policies"][number];
type ListedToken = AnswerOf<"tokens.list">["tokens"][number];

export const exportCommand = buildCommand<DaemonFlags, [], Context>({
  docs: about(
    "Print the policies and the live tokens as TOML. The daemon keeps no secret of a token, and\n" +
      "none is printed.",
    { call: "rollcall export", does: "shows it" },
    { call: "rollcall export > access.toml", does: "to keep it under version control" },
    { call: "rollcall import access.toml", does: "sets it, here or on another daemon" },
  ),
  parameters: { flags: daemonFlags },
  async func(flags) {
    await using daemon = daemonOf(this, flags);
    const policies = await allPolicies(daemon);
    const tokens = (await allTokens(daemon)).filter(({ status }) => status === "live");
    await this.out.write(
      stringify({ policies: policies.map(withoutOwner), tokens: tokens.map(described) }),
    );
  },
});

export const importCommand = buildCommand<DaemonFlags, [string], Context>({
  docs: about(
    "Set the policies of a file that `rollcall export` wrote, each in place of one with the\n" +
      "same id, and create the tokens that are not live here: each gets a new secret, which is\n" +
      "printed behind its name, and not again. Nothing is deleted.",
    { call: "rollcall import access.toml", does: "sets them, without asking" },
    { call: "rollcall import access.toml > secrets", does: "with the secrets of new tokens" },
  ),
  parameters: {
    flags: daemonFlags,
    positional: { kind: "tuple", parameters: [argument("FILE", "TOML")] },
  },
  async func(flags, file) {
    const { policies, tokens } = read(file);
    await using daemon = daemonOf(this, flags);
    for (const input of policies) await call(daemon, "policies.set", { input });
    const live = new Set<string>();
    for (const { name, status } of await allTokens(daemon)) if (status === "live") live.add(name);
    let created = 0;
    for (const { expiresAt, ...token } of tokens.filter(({ name }) => !live.has(name))) {
      const ttlMs = Date.parse(expiresAt) - Date.now();
      if (!(ttlMs > 0)) continue;
      const { secret } = await call(daemon, "tokens.create", { input: { ...token, ttlMs } });
      await this.out.line(`${token.name} ${secret}`);
      created += 1;
    }
    await note(this, `${policies.length} policies set, ${created} tokens created`);
  },
});

function withoutOwner({ id, effect, subject, action, resource }: ListedPolicy) {
  return { id, effect, subject, action, resource };
}

function described({ name, role, kind, host = "", expiresAtMs }: ListedToken) {
  const expiresAt = new Date(expiresAtMs).toISOString();
  return { name, role, kind, ...(host !== "" && { host }), expiresAt };
}

interface Access {
  readonly policies: readonly InputOf<"policies.set">[];
  readonly tokens: readonly (Omit<InputOf<"tokens.create">, "ttlMs"> & { expiresAt: string })[];
}

/** Only the shape of the file; what is in it the daemon checks, and names. */
function read(file: string): Access {
  if (!existsSync(file)) throw new RollcallError("NOT_FOUND", `${file}: there is no such file`);
  try {
    const { policies = [], tokens = [] } = parse(readFileSync(file, "utf8"));
    if (Array.isArray(policies) && Array.isArray(tokens)) {
      return { policies, tokens } as unknown as Access;
    }
  } catch (cause) {
    throw invalidArgument(`${file}: ${cause instanceof Error ? cause.message : "unread"}`, cause);
  }
  throw invalidArgument(`${file}: expected [[policies]] and [[tokens]]`);
}

async function allPolicies(daemon: Client): Promise<readonly ListedPolicy[]> {
  const all: ListedPolicy[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await call(daemon, "policies.list", { input: { limit: PAGE, cursor } });
    all.push(...page.policies);
    cursor = page.cursor;
    if (cursor === undefined) return all;
  }
}

async function allTokens(daemon: Client): Promise<readonly ListedToken[]> {
  const all: ListedToken[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await call(daemon, "tokens.list", { input: { limit: PAGE, cursor } });
    all.push(...page.tokens);
    cursor = page.cursor;
    if (cursor === undefined) return all;
  }
}
