/** The arguments of a job as people type them: its input, its lease, its budget. */
import { text } from "node:stream/consumers";
import type { LeaseShape } from "../../wires/arcp/client/types.ts";
import { invalidArgument } from "../../core/errors.ts";

/** `-` is what comes in by stdin. */
export async function inputOf(
  word: string | undefined,
  { isText = false }: { readonly isText?: boolean } = {},
): Promise<unknown> {
  if (word === undefined) return undefined;
  const said = word === "-" ? await text(process.stdin) : word;
  return isText ? said : parseInput(said);
}

/** JSON where it is JSON, else the text itself; but a slip in JSON is no text. */
function parseInput(said: string): unknown {
  try {
    return JSON.parse(said) as unknown;
  } catch (cause) {
    if (!/^\s*[[{"]/.test(said)) return said;
    const reason = (cause as Error).message;
    throw invalidArgument(
      `INPUT begins like JSON and is not: ${reason}; if it is a text, add --text`,
      cause,
    );
  }
}

/** `fs.read=/data/**`, or a whole lease as JSON. */
export function parseGrant(said: string): LeaseShape {
  if (said.trimStart().startsWith("{")) return wholeLease(said);
  const at = said.indexOf("=");
  if (at < 1 || at === said.length - 1) {
    throw new Error("not NAMESPACE=PATTERN, such as fs.read=/data/**");
  }
  return { [said.slice(0, at)]: [said.slice(at + 1)] };
}

function wholeLease(said: string): LeaseShape {
  let lease: unknown;
  try {
    lease = JSON.parse(said);
  } catch (cause) {
    throw new Error("not JSON", { cause });
  }
  const isLease = Object.values(lease as object).every(
    (each) => Array.isArray(each) && each.every((pattern) => typeof pattern === "string"),
  );
  if (isLease) return lease as LeaseShape;
  throw new Error('not a lease, such as {"net.fetch": ["https://**"]}');
}

/** `USD:5`, `credits:10.5`. */
export function parseBudgetFlag(said: string): string {
  if (/^[A-Za-z][A-Za-z0-9_-]*:\d+(?:\.\d+)?$/.test(said)) return said;
  throw new Error("not CURRENCY:AMOUNT, such as USD:5 or credits:2.50");
}

/** Grants of one namespace add up. */
export function leaseOf(grants: readonly LeaseShape[], budgets: readonly string[]): LeaseShape {
  const lease = new Map<string, readonly string[]>();
  const all = budgets.length === 0 ? grants : [...grants, { "cost.budget": budgets }];
  for (const [name, patterns] of all.flatMap((each) => Object.entries(each))) {
    if (name === "__proto__")
      throw invalidArgument("--lease has the namespace __proto__, which is reserved");
    lease.set(name, [...(lease.get(name) ?? []), ...patterns]);
  }
  return Object.fromEntries(lease);
}
