import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROLES, type Role } from "../../src/core/principals.ts";
import { ROLE_POLICIES } from "../../src/core/roles.ts";

const PAGE = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");

function rowOf(role: Role): string {
  const actions = (effect: string) =>
    ROLE_POLICIES[role]
      .filter((policy) => policy.effect === effect)
      .map(({ action }) => `\`${action}\``)
      .join(", ");
  return `| \`${role}\` | ${actions("allow")} | ${actions("deny")} |`.replace("|  |", "| |");
}

test("the page about security has the roles as they are", () => {
  for (const role of ROLES) expect(PAGE).toContain(rowOf(role));
});
