/** `get`, `validate` and `prune`: single files, by name, by path and by age. */
import { refusalError } from "../../core/errors.ts";
import { meant } from "../../core/meant.ts";
import { pathIn, statusPath } from "../../wires/files/folder.ts";
import { readStatusJson } from "../../wires/files/json-read.ts";
import { jsonText } from "../../wires/files/json-text.ts";
import { prune as pruneFiles, type PruneOptions } from "../../wires/files/prune.ts";
import { parseStatus, readStatusDir, readText, type StatusFile } from "../../wires/files/read.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { clean } from "../terminal/clean.ts";
import type { Output } from "../terminal/output.ts";

/** As it is for a program, without what a terminal would act on for a person. */
export function pathFor(output: Output, path: string): string {
  return output.isTerminal ? clean(path) : path;
}

export async function get(context: Context, agentId: string, folder: string): Promise<void> {
  await show(context, statusPath(agentId, folder));
}

/** The same by the id, the name, or a part of one that no other has. */
export async function getMeant(context: Context, word: string, folder: string): Promise<void> {
  const exact = pathIn(folder, `${word}.json`);
  const files = readStatusDir(folder);
  if (files.some(({ path }) => path === exact)) return show(context, exact);
  const known = files.filter((file) => file.kind === "status");
  const found = meant(known, namesOf, { word, noun: "agent", place: ` in ${folder}` });
  if (!found.ok) throw refusalError(found);
  await show(context, found.item.path);
}

function namesOf({ status: { agent_id: id, agent_name: name, runtime } }: StatusFile) {
  return { id, name, isHere: runtime.lifecycle !== "stopped" };
}

async function show(context: Context, path: string): Promise<void> {
  const { out, err } = context;
  const read = readText(path);
  const refused = async (problem: string) => {
    await err.line(`${problem}: ${clean(path)}`);
    context.endWith(EXIT.nothingFound);
  };
  if (!("text" in read)) {
    await refused(read.reason === "missing" ? "not found" : "invalid status file");
    return;
  }
  const json = readStatusJson(read.text);
  if (!json.ok || !("status" in parseStatus(read.text))) await refused("invalid status file");
  else await out.line(jsonText(json.value));
}

export async function validate(context: Context, path: string): Promise<void> {
  const problems = problemsOf(path);
  for (const problem of problems) await context.err.line(clean(problem));
  if (problems.length > 0) context.endWith(EXIT.nothingFound);
  else await context.out.line("valid");
}

function problemsOf(path: string): readonly string[] {
  const read = readText(path, { isNamed: true });
  if (!("text" in read)) return read.problems.map((problem) => `${path} ${problem}`);
  const parsed = parseStatus(read.text);
  if ("status" in parsed) return [];
  const prefix = parsed.reason === "json" ? "invalid JSON: " : "";
  return parsed.problems.map((problem) => prefix + problem);
}

export async function prune(context: Context, options: PruneOptions): Promise<void> {
  for (const path of pruneFiles(options)) await context.out.line(pathFor(context.out, path));
}
