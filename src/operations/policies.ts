/** Policies, and the question they answer: may this subject do that, and which policy says so? */
import { z } from "zod";
import { byKey } from "../core/pages.ts";
import { judge, subjectsOf } from "../core/access.ts";
import { accessProblem, checkPolicy, nearMisses, type Policy } from "../core/policies.ts";
import { ROLES } from "../core/principals.ts";
import { ROLE_POLICIES } from "../core/roles.ts";
import { OWNER, prefix, SEQUENCE, text } from "./fields.ts";
import { LIST } from "./limits.ts";
import { FILTERED, listJson, listPage, PAGE } from "./lists.ts";
import { operation, type Uses } from "./operation.ts";
import { check } from "./parse.ts";

const ID = text("The name of the policy", "web");

const GIVEN_POLICY = z
  .strictObject({
    id: ID,
    subject: text("An agent, a team or a user; * stands for any text", "scraper-*"),
    action: text("The action; * stands for any text", "call"),
    resource: text("The resource; * stands for any text", "tool:browser"),
    effect: z.enum(["allow", "deny"]).describe("A denial beats every allowance"),
  })
  .meta({ id: "GivenPolicy" });

const POLICY = GIVEN_POLICY.extend({ owner: OWNER }).meta({ id: "Policy" });

const ORDER = byKey<Policy>(({ id }) => id);

const list = operation({
  path: "/v1/policies",
  effect: "reads",
  access: { action: "policy.read", resource: "policy:*" },
  brief: "List the policies",
  about: "List the policies, in order of their ids.",
  input: z.strictObject({ ...PAGE, subjectPrefix: prefix("Only subjects with this prefix") }),
  output: z.strictObject({ ...FILTERED, policies: z.array(POLICY) }),
  async run({ engine }: Uses<"engine">, { subjectPrefix, ...page }) {
    const isWanted = ({ subject }: Policy) => subject.startsWith(subjectPrefix);
    const { items, ...facts } = await listPage(
      {
        engine,
        list: ({ policies: all }) => all,
        isWanted: subjectPrefix === "" ? undefined : isWanted,
        show: (policy) => policy,
      },
      page,
    );
    return { ...facts, policies: items };
  },
  json: listJson("policies", ORDER),
});

const roles = operation({
  path: "/v1/policies/roles",
  effect: "reads",
  access: list.access,
  brief: "List the policies of the roles",
  about:
    "List the policies that ship: what each role allows, and what it does not. They cannot be " +
    "changed. A denial that names a role (`role:agent`) or a caller (`token:ci`) narrows them.",
  input: z.strictObject({}),
  output: z.strictObject({ policies: z.array(POLICY) }),
  run: async () => ({ policies: ROLES.flatMap((role) => ROLE_POLICIES[role]) }),
});

const NEAR_MISS = z
  .strictObject({
    policy: POLICY,
    failed: z.enum(["subject", "action", "resource"]).describe("The one field that did not match"),
  })
  .meta({ id: "NearMiss" });

const checkAccess = operation({
  path: "/v1/policies/check",
  effect: "reads",
  access: { action: "policy.check", resource: "policy:*" },
  brief: "Ask whether a subject may do an action",
  about:
    "Ask whether a subject may do an action to a resource, and which policy says so. Denied " +
    "when no policy matches. With a role the question is whether this daemon would let a caller " +
    "of that name and role do it: the policies of the role allow, and other policies only deny.",
  input: z.strictObject({
    subject: text("The subject, such as an agent's id or name", "scraper-1"),
    action: text("The action, such as write", "call"),
    resource: text("The resource, such as repo:main", "tool:browser"),
    role: z.enum(ROLES).optional().describe("The role of the subject as a caller of this daemon"),
    explain: z
      .boolean()
      .default(false)
      .describe("Also tell which policies would have counted, had one field been another"),
  }),
  output: z.strictObject({
    allowed: z.boolean().meta({ examples: [true] }),
    reason: z.string().meta({ examples: ['allowed by policy "web"'] }),
    policy: POLICY.nullable().describe("The policy that decided; null when none matched"),
    nearMisses: z.array(NEAR_MISS).exactOptional(),
    sequence: SEQUENCE,
  }),
  async run({ engine }: Uses<"engine">, { role, explain, ...request }) {
    check(accessProblem(request));
    const { subject: name, action, resource } = request;
    const caller = role && { name, roles: [role] };
    return engine.read(({ policies }, sequence) => {
      const verdict = caller ? judge(policies, caller, request) : checkPolicy(policies, request);
      const { allowed, reason, policy = null } = verdict;
      // The role's own policies are told only where none of them decided.
      const ofRole = role && !policy ? ROLE_POLICIES[role] : [];
      const asked = { subjects: caller ? subjectsOf(caller) : [name], action, resource };
      const missed = () =>
        [...nearMisses(ofRole, asked), ...nearMisses(policies.byId.values(), asked)].slice(
          0,
          LIST.limitDefault,
        );
      return { allowed, reason, policy, ...(explain && { nearMisses: missed() }), sequence };
    });
  },
});

const set = operation({
  path: "/v1/policies/set",
  effect: "sets",
  access: { action: "policy.set", resource: "policy:{id}" },
  brief: "Set a policy",
  about:
    "Set a policy, in place of one with the same id. A denial beats every allowance, and without " +
    "an allowance all is denied.",
  input: GIVEN_POLICY,
  output: z.strictObject({ policy: POLICY }),
  run: async ({ engine }: Uses<"engine">, policy, { by }) => ({
    policy: await engine.execute({ type: "policy.set", policy }, by),
  }),
  within: "policy",
});

const remove = operation({
  path: "/v1/policies/delete",
  effect: "ends",
  access: { action: "policy.delete", resource: "policy:{id}" },
  brief: "Delete a policy",
  about: "Delete a policy.",
  input: z.strictObject({ id: ID }),
  output: z.strictObject({}),
  async run({ engine }: Uses<"engine">, { id }, { by }) {
    await engine.execute({ type: "policy.delete", id }, by);
    return {};
  },
});

export const policies = { list, roles, check: checkAccess, set, delete: remove } as const;
