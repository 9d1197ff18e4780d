import { expect, test } from "vitest";
import { REGISTRY } from "./limits.ts";
import { MemoryRegistryProvider, type RegistryEntry } from "./provider.ts";

function entry(url: string, more: Partial<RegistryEntry> = {}): RegistryEntry {
  return { url, card: "{}", announced: "", intervalS: 60, status: "unverified", ...more };
}

test("a flood of invented agents pushes out its own, and no agent that was verified", () => {
  const provider = new MemoryRegistryProvider();
  provider.upsert(entry("http://real.example", { status: "available" }));
  for (let i = 0; i < REGISTRY.agents + 5; i += 1) provider.upsert(entry(`http://${i}.example`));
  expect(provider.get("http://real.example")).toBeDefined();
  expect(provider.get("http://5.example")).toBeUndefined();
  expect(provider.get("http://6.example")).toBeDefined();
  provider.upsert(entry("http://late.example", { status: "available" }));
  expect(provider.listAvailable().map(({ url }) => url)).toEqual([
    "http://real.example",
    "http://late.example",
  ]);
});

test("one that is full of verified agents refuses the next, and takes it when one has gone", () => {
  const provider = new MemoryRegistryProvider();
  const status = "available";
  for (let i = 0; i < REGISTRY.agents; i += 1) provider.upsert(entry(`http://${i}`, { status }));
  const next = entry("http://next.example");
  expect(() => provider.upsert(next)).toThrow("the registry is full");
  provider.upsert(entry("http://0", { status, intervalS: 5 }));
  provider.unregister("http://0");
  provider.upsert(next);
  expect(provider.get("http://next.example")).toEqual(next);
});

test("large cards count by their size", () => {
  const provider = new MemoryRegistryProvider();
  const card = "x".repeat(256 * 1024);
  const fit = REGISTRY.bytes / card.length;
  for (let i = 0; i < fit + 3; i += 1) provider.upsert(entry(`http://${i}`, { card }));
  expect(provider.get("http://2")).toBeUndefined();
  expect(provider.get("http://3")).toBeDefined();
});
