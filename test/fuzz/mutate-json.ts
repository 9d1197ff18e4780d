/** JSON changed as a tree: a value for another, a field more or less, deeper, or from elsewhere. */
import { parseJson } from "../../src/core/text.ts";
import { MAX_BYTES, mutateBytes } from "./mutate-bytes.ts";
import { pick, type Material, type Mutator } from "./target.ts";

/** As JSON: each use is a value of its own. */
const VALUES: readonly string[] = [
  "null true false 0 -1 0.5 1e308 9007199254740992 -2147483648 [] {} [[]]".split(" "),
  ['""', '" "', '"x"', '"0"', '"__proto__"', '"constructor"', '"\\u0000"', '"\\ud800"'],
  ['"\\u001b[31m"', '"é\\u202e"', `"${"x".repeat(5_000)}"`, '"2026-01-01T00:00:00Z"'],
  ['"http://u:p@[::1]:1/%00"', '"-----BEGIN PRIVATE KEY-----"'],
].flat();

function anyValue({ random }: Material): unknown {
  return JSON.parse(pick(random, VALUES));
}

/** In a third of the cases, and where the tree grew too large, as text: what no tree can have. */
export const mutateJson: Mutator = (input, material) => {
  const { random } = material;
  const tree = random.chance(0.33) ? undefined : parseJson(input.toString());
  if (tree === undefined) return mutateBytes(input, material);
  let changed: unknown = tree;
  do changed = changedTree(changed, material);
  while (random.chance(0.3));
  const text = JSON.stringify(changed);
  return text.length > MAX_BYTES ? mutateBytes(input, material) : Buffer.from(text);
};

/** Lines of JSON: one of them changed, dropped, doubled, or taken from another input. */
export const mutateLines: Mutator = (input, material) => {
  const { random, other } = material;
  if (random.chance(0.1)) return mutateBytes(input, material);
  const lines = input.toString().split("\n");
  const at = random.between(0, lines.length - 1);
  const line = lines[at] ?? "";
  const choice = random.between(0, 5);
  if (choice === 0) lines.splice(at, 1);
  else if (choice === 1) lines.splice(at, 0, pick(random, other.toString().split("\n")));
  else if (choice === 2) lines.push(line);
  else lines[at] = mutateJson(Buffer.from(line), material).toString();
  return Buffer.from(lines.join("\n"));
};

type Container = Record<string, unknown> | unknown[];

function changedTree(tree: unknown, material: Material): unknown {
  const { random } = material;
  const places = placesIn(tree);
  if (places.length === 0) return anyValue(material);
  const { container, key } = pick(random, places);
  const value = (container as Record<string, unknown>)[key];
  switch (random.between(0, 6)) {
    case 0:
      Reflect.deleteProperty(container, key);
      break;
    case 1:
      put(container, wordIn(material), value);
      break;
    case 2:
      put(container, key, elsewhere(material));
      break;
    case 3:
      put(container, key, deeper(value, random.chance(0.9) ? 1 : random.between(2, 200)));
      break;
    case 4:
      put(container, key, wordIn(material));
      break;
    case 5:
      put(
        container,
        key,
        Array.from({ length: random.between(1, 40) }, () => value),
      );
      break;
    default:
      put(container, key, anyValue(material));
  }
  return tree;
}

function put(container: Container, key: string, value: unknown): void {
  Object.defineProperty(container, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function wordIn({ random, words }: Material): string {
  return words.length === 0 ? "x" : pick(random, words).toString();
}

/** A part of another input. */
function elsewhere(material: Material): unknown {
  const { random, other } = material;
  const places = placesIn(parseJson(other.toString()));
  if (places.length === 0) return anyValue(material);
  const { container, key } = pick(random, places);
  return structuredClone((container as Record<string, unknown>)[key]);
}

function deeper(value: unknown, levels: number): unknown {
  let nested = value;
  for (let i = 0; i < levels; i += 1) nested = i % 2 === 0 ? [nested] : { a: nested };
  return nested;
}

interface TreePlace {
  readonly container: Container;
  readonly key: string;
}

/** As many as one chooses from. */
const MAX_PLACES = 500;

/** Every place that holds a value. */
function placesIn(tree: unknown): readonly TreePlace[] {
  const places: TreePlace[] = [];
  const nodes = [tree];
  // Grows while it is walked.
  for (const node of nodes) {
    if (typeof node !== "object" || node === null) continue;
    for (const [key, value] of Object.entries(node)) {
      places.push({ container: node as Container, key });
      nodes.push(value);
    }
    if (places.length > MAX_PLACES) break;
  }
  return places;
}
