/** Who may act on what somebody made: its owner, and operators. */
import { ownerOf, type By } from "./by.ts";
import { refuse, type Refusal } from "./decide.ts";

interface Owned {
  readonly owner?: string | undefined;
}

export function mayActOn({ principal }: By, record: Owned): boolean {
  const { name, roles } = principal;
  return ownerOf(record) === name || roles.includes("operator") || roles.includes("admin");
}

/** The refusal where the caller may not; `act` goes on "may not …". */
export function notOwned(by: By, record: Owned, act: string): Refusal | undefined {
  if (mayActOn(by, record)) return undefined;
  const allowed = `that is for ${ownerOf(record)} and operators`;
  return refuse("PERMISSION_DENIED", `${by.principal.name} may not ${act}: ${allowed}`);
}
