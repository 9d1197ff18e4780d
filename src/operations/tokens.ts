/** Bearer tokens. The secret of one is in the answer that creates it, and nowhere else. */
import { z } from "zod";
import { byKey } from "../core/pages.ts";
import { ROLES, type Role } from "../core/principals.ts";
import { statusOf, type Token } from "../core/tokens.ts";
import { newSecret, secretHash } from "../machine/secrets.ts";
import { moment, OWNER, text, ttl } from "./fields.ts";
import { listJson, listPage, PAGE, PAGED } from "./lists.ts";
import { operation, type Uses } from "./operation.ts";

const NAME = text("The name of the token: its principal is token:NAME", "ci");
const ROLE = z.enum(ROLES).describe("The role of its callers");
const KIND = z.enum(["person", "service", "agent"]);

const TOKEN = z
  .strictObject({
    name: NAME,
    owner: OWNER,
    role: ROLE,
    kind: KIND.describe("The kind of caller that it stands for"),
    host: text("The one that an outpost reports on", "box").exactOptional(),
    status: z.enum(["live", "expired", "revoked"]),
    createdAtMs: moment("When it was created"),
    expiresAtMs: moment("When it expires"),
    revokedAtMs: moment("When it was revoked").exactOptional(),
  })
  .meta({ id: "Token" });

type ShownToken = z.output<typeof TOKEN>;

const ORDER = byKey<ShownToken>(({ name }) => name);

const list = operation({
  path: "/v1/tokens",
  effect: "reads",
  access: { action: "token.read", resource: "token:*" },
  brief: "List the tokens",
  about:
    "List the tokens, in order of their names: those that are live, and for 30 days those that " +
    "are expired or revoked. Secrets are not kept, and not shown.",
  input: z.strictObject(PAGE),
  output: z.strictObject({ ...PAGED, tokens: z.array(TOKEN) }),
  async run({ engine }: Uses<"engine">, page) {
    const { items, ...facts } = await listPage(
      {
        engine,
        list: ({ tokens: all }) => all,
        show: ({ token }) => shown(token, engine.nowMs),
      },
      page,
    );
    return { ...facts, tokens: items };
  },
  json: listJson("tokens", ORDER),
});

const create = operation({
  path: "/v1/tokens/create",
  effect: "adds",
  access: { action: "token.create", resource: "token:{name}" },
  brief: "Create a token",
  about:
    "Create a token. Its secret is in the answer, this once: the daemon keeps a digest only. " +
    "Callers send it as `Authorization: Bearer SECRET`.",
  input: z.strictObject({
    name: NAME,
    role: ROLE,
    kind: KIND.optional().describe("Whom it is for; by its role unless set"),
    host: text("Of an outpost: the host that it reports on", "box").default(""),
    ttlMs: ttl("How long it is good for, up to 366 days; 30 days unless set"),
  }),
  output: z.strictObject({
    token: TOKEN,
    secret: text("To be kept by the caller: it is not shown again", "rollcall_kX2v…"),
  }),
  async run({ engine }: Uses<"engine">, { kind, ...facts }, { by }) {
    const secret = newSecret();
    const hash = secretHash(secret);
    const told = { ...facts, kind: kind ?? kindFor(facts.role), hash };
    const token = await engine.execute({ type: "token.create", ...told }, by);
    return { token: shown(token, engine.nowMs), secret };
  },
});

const revoke = operation({
  path: "/v1/tokens/revoke",
  effect: "ends",
  access: { action: "token.revoke", resource: "token:{name}" },
  brief: "Revoke a token",
  about: "Revoke a token: its callers are refused from now on, and its connections end.",
  input: z.strictObject({ name: NAME }),
  output: z.strictObject({}),
  async run({ engine }: Uses<"engine">, { name }, { by }) {
    await engine.execute({ type: "token.revoke", name }, by);
    return {};
  },
});

function kindFor(role: Role): Token["kind"] {
  return role === "agent" ? "agent" : "service";
}

function shown(token: Token, nowMs: number): ShownToken {
  const { name, owner, role, kind, host, createdAtMs, expiresAtMs, revokedAtMs } = token;
  return {
    name,
    ...(owner !== undefined && { owner }),
    role,
    kind,
    ...(host !== "" && { host }),
    status: statusOf(token, nowMs),
    createdAtMs,
    expiresAtMs,
    ...(revokedAtMs > 0 && { revokedAtMs }),
  };
}

export const tokens = { list, create, revoke } as const;
