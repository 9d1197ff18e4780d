/**
 * Keeps the page true. The event stream is only a bell: when it rings, the overview is read again
 * and what changed is drawn anew. So there is nothing to replay, nothing to miss and nothing that
 * grows, however long the page stays open and however often the daemon goes away.
 *
 *   connecting ──stream open, overview read──▶ live ──stream ends, or is silent──▶ reconnecting
 *                                               ▲                                     │
 *                                               └───────────── tried again ───────────┘
 *
 * A page that nobody sees lets go of its connection.
 */
import {
  bdi,
  cell,
  clean,
  duration,
  element,
  find,
  headlineOf,
  idOf,
  moment,
  number,
  rowHead,
  shortId,
  statusOf,
  toolList,
} from "./elements.mjs";

/** @typedef {import("../../src/operations/overview.ts").Overview} Overview */
/** @typedef {Overview["leases"][number]["holder"]} Who */
/** @typedef {import("../../src/operations/daemon.ts").DaemonStatus} Status */

/** Between two readings, at least; a slow daemon is asked less often. */
const PAUSE_MS = 400;
const PAUSE_FACTOR = 10;
/** Heartbeats of agents are not events: without a ring the overview is read this often. */
const REREAD_MS = 5_000;
/** The daemon shows every 15 s that it is there. */
const SILENCE_MS = 40_000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 4_000;
/** An answer that takes longer will not come: the daemon hangs. */
const ANSWER_MS = 5_000;

/** How far the daemon's clock is ahead of ours. */
let aheadMs = 0;
/** What each table shows, so that what did not change is left alone. */
const shown = new Map();

/** @param {Who} who */
function agentName({ agentId, name }) {
  return name === "" ? [idOf(agentId)] : [bdi(name), idOf(agentId)];
}

function tick() {
  const nowMs = Date.now() + aheadMs;
  for (const time of document.querySelectorAll("time")) {
    const { ago, left } = time.dataset;
    const text = left ? duration(Number(left) - nowMs) : duration(nowMs - Number(ago));
    if (time.textContent !== text) time.textContent = text;
  }
}

/**
 * Draws a table, or says why there is none, if that is not what is there already.
 * @template T
 * @param {string} id
 * @param {readonly T[]} items
 * @param {{ readonly total: number, readonly row: (item: T) => readonly Node[] }} options
 */
function fill(id, items, { total, row }) {
  const text = JSON.stringify([items, total]);
  if (shown.get(id) === text) return;
  shown.set(id, text);
  const table = find(`#${id}`);
  const section = /** @type {HTMLElement} */ (table.parentElement);
  find("tbody", table).replaceChildren(...items.map((item) => element("tr", {}, ...row(item))));
  table.hidden = items.length === 0;
  find(".empty", section).hidden = items.length > 0;
  const more = find(".more", section);
  more.hidden = total <= items.length;
  more.textContent = `and ${number(total - items.length)} more`;
}

/**
 * @param {string} name
 * @param {{ readonly count: number, readonly note: string, readonly isWarning?: boolean }} options
 */
function tell(name, { count, note, isWarning = false }) {
  find(`[data-count="${name}"]`).textContent = number(count);
  const line = find(`[data-note="${name}"]`);
  line.textContent = note;
  line.classList.toggle("warning", isWarning);
}

/** The headlines in the order in which they deserve a look, counted: of one, and of several. */
const SUMMARY = /** @type {const} */ ([
  ["NEEDS YOU", "needs you", "need you"],
  ["PROBLEM", "problem", "problems"],
  ["WORKING", "working", "working"],
  ["IDLE", "idle", "idle"],
]);

/** @param {Overview["fleet"]["counts"]} counts */
function summaryOf(counts) {
  const told = SUMMARY.flatMap(([headline, one, many]) => {
    const count = counts[headline];
    return count === 0 ? [] : `${number(count)} ${count === 1 ? one : many}`;
  });
  return told.join(" · ");
}

/** @param {Overview} overview */
function drawCounts({ counts, fleet, sequence }) {
  const { leases, leaders, pending, claimed, dead, waiting } = counts;
  const summary = summaryOf(fleet.counts);
  const isWarning = fleet.counts["NEEDS YOU"] + fleet.counts.PROBLEM > 0;
  tell("agents", { count: fleet.total, note: summary, isWarning });
  tell("leases", { count: leases, note: leases > 0 ? "held" : "" });
  tell("leaders", { count: leaders, note: leaders > 0 ? "one per group" : "" });
  const notes = [
    `${number(claimed)} claimed`,
    ...(waiting > 0 ? [`${number(waiting)} idle`] : []),
    ...(dead > 0 ? [`${number(dead)} given up`] : []),
  ];
  tell("queue", { count: pending, note: notes.join(" · "), isWarning: dead > 0 });
  tell("events", { count: sequence, note: "in the log" });
  document.title = `${summary || "0 agents"} · Rollcall`;
}

/** @param {Overview} overview */
function draw(overview) {
  const { counts, fleet, agents, leases, leaders, pending, claimed, events } = overview;
  aheadMs = overview.atMs - Date.now();
  drawCounts(overview);
  fill("fleet", fleet.rows, {
    total: fleet.total,
    row: (each) => [
      cell("", headlineOf(each.headline)),
      rowHead(bdi(each.name), ...(each.name === each.id ? [] : [idOf(each.id)])),
      cell("doing", ...(each.why === "" ? [] : [bdi(each.why)])),
      cell("wide place", ...(each.workspace === null ? [] : [bdi(each.workspace)])),
      cell("age", ...(each.sinceMs === null ? [] : [moment(each.sinceMs)])),
    ],
  });
  fill("agents", agents, {
    total: counts.alive + counts.unreachable,
    row: (agent) => [
      rowHead(...agentName(agent)),
      cell("", statusOf(agent.status)),
      cell("wide tools", ...toolList(agent.tools)),
      cell("age", moment(agent.lastHeartbeatAtMs)),
      cell("age wide", moment(agent.registeredAtMs)),
    ],
  });
  const work = [
    ...claimed.map((task) => ({ ...task, status: "claimed" })),
    ...pending.map((task) => ({ ...task, by: undefined, status: "pending" })),
  ];
  fill("tasks", work, {
    total: counts.pending + counts.claimed,
    row: (task) => [
      rowHead(bdi(task.type), idOf(task.id)),
      cell("", statusOf(task.status), ...(task.by ? [element("small", {}, by(task.by))] : [])),
      cell("wide tools", ...toolList(task.requiredTools)),
      cell("number wide", new Text(`${task.retryCount} of ${task.maxRetries}`)),
      cell("age", moment(task.createdAtMs)),
    ],
  });
  fill("leases", leases, {
    total: counts.leases,
    row: (lease) => [
      rowHead(bdi(lease.taskId)),
      cell("", ...agentName(lease.holder)),
      cell("number wide", new Text(number(lease.token))),
      cell("age", moment(lease.expiresAtMs, "left")),
    ],
  });
  fill("leaders", leaders, {
    total: counts.leaders,
    row: (each) => [
      rowHead(bdi(each.group)),
      cell("", ...agentName(each.leader)),
      cell("number wide", new Text(number(each.candidates))),
      cell("number wide", new Text(number(each.term))),
      cell("age", moment(each.electedAtMs)),
    ],
  });
  fill("events", events, {
    total: events.length,
    row: (event) => [
      rowHead(bdi(event.text || event.topic), topicOf(event)),
      cell("age", moment(event.atMs)),
    ],
  });
  tick();
}

/** @param {Who} who */
const by = ({ name, agentId }) => bdi(name || shortId(agentId));

/** @param {Overview["events"][number]} event */
function topicOf({ topic, sequence }) {
  const made = element("small", { class: "topic", text: `${topic} · ${number(sequence)}` });
  made.dataset["topic"] = topic;
  return made;
}

/** @param {"live" | "reconnecting"} state */
function setState(state) {
  if (document.body.dataset["state"] === state) return;
  document.body.dataset["state"] = state;
  find("#state").textContent = state === "live" ? "live" : "reconnecting…";
}

/**
 * @template {"/v1/overview" | "/v1/status"} Path
 * @param {Path} path
 * @param {AbortSignal} signal
 * @returns {Promise<Path extends "/v1/overview" ? Overview : Status>}
 */
async function read(path, signal) {
  const late = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(path, { signal: AbortSignal.any([signal, late]) });
  if (!response.ok) throw new Error(`${path} answers ${response.status}`);
  return response.json();
}

/** @param {AbortSignal} signal */
async function introduce(signal) {
  const { node, version, grpcAddress = "", exposure } = await read("/v1/status", signal);
  find("#daemon").textContent = clean(`${node} · ${version}`);
  find("#exposure").hidden = exposure.length === 0;
  find("#exposure").textContent = exposure.join(" · ");
  find("#grpc-port").textContent = /\d+$/.exec(grpcAddress)?.[0] ?? "7070";
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Follows the daemon until the stream ends, is silent for too long or nobody looks any more. */
async function follow() {
  const ending = new AbortController();
  const { signal } = ending;
  const end = () => ending.abort();
  const hide = () => document.hidden && end();
  let silence = setTimeout(end, SILENCE_MS);
  let hasRung = true;
  let isReading = false;
  const ring = async () => {
    hasRung = true;
    if (isReading) return;
    isReading = true;
    try {
      while (hasRung && !signal.aborted) {
        hasRung = false;
        const startedAt = performance.now();
        const overview = await read("/v1/overview", signal).catch(end);
        if (!overview) return;
        draw(overview);
        setState("live");
        await pause(Math.max(PAUSE_MS, PAUSE_FACTOR * (performance.now() - startedAt)));
      }
    } finally {
      isReading = false;
    }
  };
  const reread = setInterval(() => void ring(), REREAD_MS);
  document.addEventListener("visibilitychange", hide);
  try {
    const { ok, body } = await fetch("/v1/events", { signal });
    if (!ok || !body) return;
    await introduce(signal);
    const reader = body.getReader();
    for (;;) {
      void ring();
      const { done } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE_MS);
    }
  } finally {
    end();
    clearTimeout(silence);
    clearInterval(reread);
    document.removeEventListener("visibilitychange", hide);
  }
}

function inSight() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", resolve, { once: true });
  });
}

async function keepUp() {
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)) {
    await inSight();
    await follow().catch(() => undefined);
    if (document.body.dataset["state"] === "live") retryMs = FIRST_RETRY_MS;
    if (document.hidden) continue;
    setState("reconnecting");
    await pause(retryMs);
  }
}

setInterval(tick, 1000);
void keepUp();
