/** All readers of bytes of others, and one with a planted bug, which only its test asks for. */
import { mutateBytes } from "./mutate-bytes.ts";
import { plantedReader } from "./planted.ts";
import type { Target } from "./target.ts";
import { BYTES } from "./targets/bytes.ts";
import { JSONS } from "./targets/json.ts";
import { TEXTS } from "./targets/text.ts";
import { texts } from "./words.ts";

export const TARGETS: readonly Target[] = [...BYTES, ...JSONS, ...TEXTS];

export const PLANTED: Target = {
  name: "planted",
  seeds: [Buffer.from("hello")],
  words: texts("agent", "claim", "lease", "queue", "renew", "task", "token", "ttl"),
  mutate: mutateBytes,
  run: plantedReader,
};
