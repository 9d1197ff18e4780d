/**
 * A member's memory of itself and of its log between two starts, in cluster.json beside its
 * other files: the instance that it is, and the last that it saw of the log. Without it (a fresh
 * disk) it is another instance, and takes any log for its own.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { RollcallError } from "../../core/errors.ts";
import type { KnownLog } from "../../engine/known-log.ts";
import { replaceFile } from "../../machine/replace-file.ts";
import { systemCode } from "../../machine/system-error.ts";

const NAME = "cluster.json";

const CONTENT = z.object({
  node: z.string(),
  instance: z.string().min(1).max(128),
  known: z.object({ logId: z.string(), head: z.int().min(0), lastId: z.string() }).optional(),
});

export class NodeFile {
  readonly node: string;
  readonly instance: string;
  readonly #path: string | undefined;
  #known: KnownLog | undefined;

  /** In memory there is no folder: it is another instance at every start. */
  static open(node: string, folder: string | undefined): NodeFile {
    const path = folder === undefined ? undefined : join(folder, NAME);
    const kept = path === undefined ? undefined : read(path);
    if (kept && kept.node !== node) {
      const message =
        `${path} is of node ${kept.node}, and this is ${node}: ` +
        `start it with --node ${kept.node}, or with another --data-dir`;
      throw new RollcallError("INVALID_ARGUMENT", message);
    }
    return new NodeFile({ node, path, kept });
  }

  private constructor(given: {
    readonly node: string;
    readonly path: string | undefined;
    readonly kept: z.output<typeof CONTENT> | undefined;
  }) {
    const { node, path, kept } = given;
    this.node = node;
    this.instance = kept?.instance ?? randomUUID();
    this.#path = path;
    this.#known = kept?.known;
    if (!kept) this.#write();
  }

  /** The last that was seen of the log, at an earlier start too. */
  get known(): KnownLog | undefined {
    return this.#known;
  }

  /** Costs nothing while nothing is new. */
  keep(known: KnownLog): void {
    if (this.#known?.head === known.head && this.#known.logId === known.logId) return;
    this.#known = known;
    this.#write();
  }

  #write(): void {
    if (this.#path === undefined) return;
    const { node, instance } = this;
    const content = { node, instance, ...(this.#known && { known: this.#known }) };
    replaceFile(this.#path, `${JSON.stringify(content, null, 2)}\n`, 0o600);
  }
}

function read(path: string): z.output<typeof CONTENT> | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw unreadable(path, error);
  }
  try {
    return CONTENT.parse(JSON.parse(text));
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): RollcallError {
  const message = `${path} cannot be read: mend it, or remove it to start as a new member`;
  return new RollcallError("STORAGE_CORRUPT", message, { cause });
}
