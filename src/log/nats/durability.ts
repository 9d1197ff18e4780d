/**
 * Whether the servers keep what they acknowledged. The defaults of JetStream allow a loss: a
 * server syncs its files every two minutes, so that three servers that lose power together lose
 * what all three acknowledged; and a stream may have one replica, on a server that can be lost.
 * Settings of a stream that forgets by itself (an age, a number of messages) lose entries as well.
 *
 * `strict` refuses that, and what it cannot see; `trust` goes on and warns. How a server syncs is
 * told by its monitoring port alone (`nats_monitor`).
 */
import { RollcallError } from "../../core/errors.ts";
import type { Durability } from "../durability.ts";
import type { StreamInfo } from "./layout.ts";
import { NATS } from "./limits.ts";
import type { NatsUrl } from "./url.ts";

const LEAST_REPLICAS = 3;

export interface DurabilityOptions {
  readonly infos: readonly StreamInfo[];
  readonly durability: Durability;
  /** `http://HOST:8222` of each server. */
  readonly monitors: readonly string[];
  readonly url: NatsUrl;
}

/** What is wrong and how to mend it: nothing, a warning, or a refusal. */
export async function checkDurability(options: DurabilityOptions): Promise<string> {
  const { infos, durability, url } = options;
  const problems = [...infos.flatMap(streamProblems), ...(await syncProblems(options))];
  if (problems.length === 0) return "";
  const what = `NATS at ${url.description} may lose what it acknowledged: ${problems.join("; ")}`;
  if (durability === "trust") return what;
  throw new RollcallError("WRONG_STATE", `${what}. Or accept that: log_durability = trust`);
}

function streamProblems({ config }: StreamInfo): string[] {
  const { name, num_replicas: replicas } = config;
  const problems: string[] = [];
  const edit = (settings: string) => `nats stream edit ${name} ${settings}`;
  if (replicas < LEAST_REPLICAS) {
    const many = `${replicas} replica${replicas === 1 ? "" : "s"}`;
    problems.push(`stream ${name} has ${many}: ${edit(`--replicas ${LEAST_REPLICAS}`)}`);
  }
  if (config.storage !== "file") {
    problems.push(`stream ${name} is kept in ${config.storage}: it must be made anew, in files`);
  }
  if ((config.max_age ?? 0) > 0) {
    problems.push(`stream ${name} forgets messages by age: ${edit("--max-age 0")}`);
  }
  if ((config.max_msgs ?? -1) > 0 && config.discard !== "new") {
    problems.push(`stream ${name} forgets messages by number: ${edit("--max-msgs -1")}`);
  }
  if ((config.max_msgs_per_subject ?? -1) > 0) {
    problems.push(`stream ${name} forgets by subject: ${edit("--max-msgs-per-subject -1")}`);
  }
  if (config.discard !== "new") {
    problems.push(`stream ${name} discards its oldest when full: ${edit("--discard new")}`);
  }
  if (config.retention !== "limits") {
    problems.push(`stream ${name} has retention ${config.retention}: it must be made anew`);
  }
  if (config.persist_mode === "async") {
    problems.push(`stream ${name} is written asynchronously: it must be made anew`);
  }
  return problems;
}

const MEND = "set sync_interval: always in jetstream {} of each server";

/** How the servers that hold the stream sync their files. */
async function syncProblems({ infos, monitors }: DurabilityOptions): Promise<string[]> {
  if (monitors.length === 0) {
    const why = "a client cannot see how servers sync their files";
    return [
      `${why}: ${MEND}, and name their monitoring ports in nats_monitor, so that it can be seen`,
    ];
  }
  const told = await Promise.all(monitors.map(askMonitor));
  const problems = told.flatMap(({ problem }) => problem ?? []);
  const seen = new Set(told.map(({ server }) => server));
  const unseen = [...new Set(infos.flatMap(serversOf))].filter((name) => !seen.has(name));
  if (unseen.length > 0 && problems.length === 0) {
    problems.push(`nats_monitor names no monitoring port of ${unseen.toSorted().join(", ")}`);
  }
  return problems;
}

function serversOf({ cluster }: StreamInfo): string[] {
  const { leader, replicas = [] } = cluster ?? {};
  return [...(leader === undefined ? [] : [leader]), ...replicas.map(({ name }) => name)];
}

interface Told {
  readonly server?: string;
  readonly problem?: string;
}

/** The name of a server, and what is wrong with it. */
async function askMonitor(monitor: string): Promise<Told> {
  try {
    const [{ server_name: server }, { config }] = await Promise.all([
      asked<{ readonly server_name: string }>(`${monitor}/varz`),
      asked<{ readonly config?: { readonly sync_always?: boolean } }>(`${monitor}/jsz?config=true`),
    ]);
    if (config?.sync_always === true) return { server };
    return { server, problem: `server ${server} does not sync each write: ${MEND}` };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `the monitoring port ${monitor} does not answer (${why})` };
  }
}

async function asked<Answer>(address: string): Promise<Answer> {
  const answer = await fetch(address, { signal: AbortSignal.timeout(NATS.connectMs) });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return (await answer.json()) as Answer;
}
