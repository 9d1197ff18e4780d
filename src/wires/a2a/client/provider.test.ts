import { expect, test } from "vitest";
import { REGISTRY_DEFAULTS } from "./limits.ts";
import { MemoryRegistryProvider, type RegisteredCard } from "./provider.ts";

function card(url: string, text = "{}"): RegisteredCard {
  return { url, text };
}

function add(provider: MemoryRegistryProvider, url: string): void {
  provider.upsert(card(url), 60);
  provider.markVerified(url);
}

test("an agent is unverified until it is marked, and stays marked whatever it says then", () => {
  const provider = new MemoryRegistryProvider();
  provider.upsert(card("http://a.example"), 60);
  expect(provider.get("http://a.example")).toMatchObject({ status: "unverified", intervalS: 60 });
  expect(provider.listAvailable()).toEqual([]);
  provider.markVerified("http://a.example");
  provider.upsert(card("http://a.example", "[]"), 30);
  expect(provider.get("http://a.example")).toMatchObject({ status: "available", intervalS: 30 });
  expect(provider.listAvailable()).toEqual([card("http://a.example", "[]")]);
  provider.markVerified("http://nobody.example");
  expect(provider.get("http://nobody.example")).toBeUndefined();
});

test("a flood of invented agents pushes out its own, and no agent that was verified", () => {
  const provider = new MemoryRegistryProvider();
  add(provider, "http://real.example");
  for (let i = 0; i < REGISTRY_DEFAULTS.agents + 5; i += 1)
    provider.upsert(card(`http://${i}.example`), 60);
  expect(provider.get("http://real.example")).toBeDefined();
  expect(provider.get("http://5.example")).toBeUndefined();
  expect(provider.get("http://6.example")).toBeDefined();
  add(provider, "http://late.example");
  expect(provider.listAvailable().map(({ url }) => url)).toEqual([
    "http://real.example",
    "http://late.example",
  ]);
});

test("one that is full of verified agents refuses the next, and takes it when one has gone", () => {
  const provider = new MemoryRegistryProvider();
  for (let i = 0; i < REGISTRY_DEFAULTS.agents; i += 1) add(provider, `http://${i}`);
  const next = card("http://next.example");
  expect(() => provider.upsert(next, 60)).toThrow("the registry is full");
  provider.upsert(card("http://0"), 5);
  provider.unregister("http://0");
  provider.upsert(next, 60);
  expect(provider.get("http://next.example")).toMatchObject({ card: next });
});

test("large cards count by their size", () => {
  const provider = new MemoryRegistryProvider();
  const text = "x".repeat(256 * 1024);
  const fit = REGISTRY_DEFAULTS.bytes / text.length;
  for (let i = 0; i < fit + 3; i += 1) provider.upsert(card(`http://${i}`, text), 60);
  expect(provider.get("http://2")).toBeUndefined();
  expect(provider.get("http://3")).toBeDefined();
});
