/** Readers of text: settings, cursors, queries, patterns. */
import type { Context } from "hono";
import type { IncomingMessage } from "node:http";
import { byKey, pageOf } from "../../../src/core/pages.ts";
import { codeOf } from "../../../src/core/errors.ts";
import { coverageOf } from "../../../src/core/jobs/glob-subset.ts";
import { compileGlob, matchesGlob } from "../../../src/core/jobs/glob.ts";
import { parseBudget } from "../../../src/core/jobs/budget.ts";
import { parseLease } from "../../../src/core/jobs/lease.ts";
import { matches } from "../../../src/core/patterns.ts";
import { parseAgents } from "../../../src/daemon/arcp/agents-config.ts";
import { parseValues } from "../../../src/daemon/config-schema.ts";
import { fromText } from "../../../src/daemon/config-sources.ts";
import { operations } from "../../../src/operations/table.ts";
import { watchOptionsOf } from "../../../src/wires/api/event-query.ts";
import { queryOf } from "../../../src/wires/api/request.ts";
import { corpus } from "../corpus.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import { same, unlessRefused, type Target } from "../target.ts";
import { texts } from "../words.ts";

const isInvalid = (error: unknown) => codeOf(error) === "INVALID_ARGUMENT";

const toml: Target = {
  name: "toml",
  seeds: corpus("toml"),
  words: texts(
    "[agents.",
    "command = [",
    '"""',
    "'''",
    "[[",
    "= { ",
    "1979-05-27",
    "\\u0000",
    "inf",
  ),
  mutate: mutateBytes,
  run(input) {
    const file = unlessRefused(isInvalid, () => fromText("rollcall.toml", input.toString()));
    if (!file) return;
    unlessRefused(isInvalid, () => parseValues(file.said));
    const place = { path: "rollcall.toml", folder: "/etc" };
    unlessRefused(isInvalid, () => parseAgents(file.agents, place));
  },
};

const ITEMS = ["", " ", "a", "b/c", "é", "😀", "z".repeat(300)];
const ORDER = byKey((item: string) => item);

/** A cursor is taken only where a list could have given it, and then goes on from there. */
const cursors: Target = {
  name: "cursors",
  seeds: texts("MCBh", "MCBiL2M", "MCDwn5iA", "MTcwMDAwMDAwMDAwMCBh", "MC41IHg"),
  words: texts("MCA", "MTcw", "=", "-", "_", "\u0000", "IA"),
  mutate: mutateBytes,
  run(input) {
    const cursor = input.toString("latin1");
    const page = unlessRefused(isInvalid, () => pageOf(ITEMS, ORDER, { limit: 2, cursor }));
    if (!page?.cursor) return;
    const next = pageOf(ITEMS, ORDER, { limit: 2, cursor: page.cursor });
    same(
      next.items.filter((item) => page.items.includes(item)),
      [],
      "a row is on two pages",
    );
  },
};

const READS = operations()
  .map(([, operation]) => operation)
  .filter(({ effect }) => effect === "reads");

/** A query of each list, and of the stream of events. */
const filters: Target = {
  name: "filters",
  seeds: corpus("filters"),
  words: texts(
    "&",
    "=",
    "%",
    "%00",
    "+",
    "limit=",
    "cursor=",
    "from=",
    "topic=",
    "at=",
    "__proto__=1",
  ),
  mutate: mutateBytes,
  run(input) {
    const url = `http://localhost/v1/x?${encodeURI(input.toString("latin1"))}`;
    for (const { input: schema } of READS) {
      unlessRefused(isInvalid, () => queryOf({ req: { url } } as Context, schema));
    }
    const request = { url, headers: { "last-event-id": input.toString("latin1") } };
    unlessRefused(isInvalid, () => watchOptionsOf(request as unknown as IncomingMessage));
  },
};

/** Two patterns and a text, a line each: leases, budgets, policies. */
const patterns: Target = {
  name: "patterns",
  seeds: corpus("patterns"),
  words: texts("**", "/**/", "*", "/", "\n", "USD:", "1.5", "a*b*"),
  mutate: mutateBytes,
  run(input) {
    const [inner = "", outer = "", text = ""] = input.toString("latin1").split("\n");
    parseBudget([inner, outer]);
    if (!parseLease({ "tool.call": [inner, outer, text] }).ok) return;
    matches(inner, text);
    const { covered } = coverageOf(inner, outer);
    const isWithin = matchesGlob(compileGlob(inner), text);
    const isAround = matchesGlob(compileGlob(outer), text);
    if (covered && isWithin && !isAround) throw new Error("covered, but not matched");
  },
};

export const TEXTS: readonly Target[] = [toml, cursors, filters, patterns];
