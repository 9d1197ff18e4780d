/** The page at `/`, in a real browser: what it shows, what it survives, what it refuses to run. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { CHROMIUM, lacks } from "../../scripts/prerequisites.mjs";
import { startDaemon } from "../../src/daemon/compose.ts";
import type { Facts } from "../../src/core/reports.ts";
import { loadConfig } from "../../src/daemon/config.ts";
import { Engine, sqliteStore } from "../../src/index.ts";
import { daemon, scratch, start } from "./programs.ts";
import { LIBRARY } from "../../src/core/by.ts";

const PATIENCE = { timeout: 10_000, interval: 20 };
const cleanups: (() => unknown)[] = [];
let browser: Browser;

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** What the page says of itself; nothing should ever be in it. */
interface Opened {
  readonly page: Page;
  readonly complaints: string[];
}

async function open(url: string, width = 1_200): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  cleanups.push(() => page.close());
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(`
    addEventListener("securitypolicyviolation", (event) =>
      console.error("violates " + event.violatedDirective));
    globalThis.isFirstLoad = true;
  `);
  await page.goto(url);
  await state(page, "live");
  // Gone if the page were loaded anew.
  await page.evaluate("globalThis.isFirstLoad = 'still'");
  return { page, complaints };
}

async function state(page: Page, wanted: string): Promise<void> {
  await page.waitForSelector(`body[data-state="${wanted}"]`, PATIENCE);
}

async function sees(page: Page, selector: string, text: string | RegExp): Promise<void> {
  await vi.waitFor(async () => {
    expect((await page.locator(selector).allInnerTexts()).join("\n")).toMatch(text);
  }, PATIENCE);
}

async function inProcess(
  more: Record<string, string> = {},
): Promise<{ readonly engine: Engine; readonly url: string }> {
  const flags = { memory: "true", addr: ":0", "http-addr": ":0", "log-level": "silent", ...more };
  const running = await startDaemon(await loadConfig({ flags, env: {} }));
  cleanups.push(() => running.close());
  return { engine: running.engine, url: `http://127.0.0.1:${running.httpAddress?.port ?? 0}` };
}

async function enrol(engine: Engine, name: string, tools: readonly string[] = []) {
  const card = { name, description: "", version: "", capabilities: [], tools, metadata: {} };
  const { agentId } = await engine.execute(
    { type: "agent.register", card, ttlMs: 3_600_000 },
    LIBRARY,
  );
  return agentId;
}

const ALIVE = { value: "alive", rule: "its file is fresh" } as const;
const SILENT = { liveness: { value: "stale", rule: "its file is old" } } as const;
const WORKS = { value: "working", rule: "task.state is working" } as const;
const QUESTION = {
  kind: "text",
  text: "Shall I drop the table?",
  sinceMs: Date.now() - 90_000,
} as const;
const ASKS = { question: { value: QUESTION, rule: "it asks" } };

/** As a status file would. */
function tell(engine: Engine, agentId: string, facts: Partial<Facts>): Promise<unknown> {
  const about = { alias: `file@box:${agentId}`, agentId, links: [], order: 1 };
  const report = { ...about, reportedAtMs: Date.now(), facts: { liveness: ALIVE, ...facts } };
  return engine.execute({ type: "fleet.report", report }, LIBRARY);
}

const TASK = {
  type: "task.create",
  input: "",
  requiredTools: [],
  maxRetries: 0,
  ttlMs: 0,
} as const;

describe.skipIf(lacks("chromium"))("the page", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  }, 60_000);

  afterAll(() => browser.close());

  test("says what to do while nobody is here, then shows everything as it happens", async () => {
    const { engine, url } = await inProcess();
    const { page, complaints } = await open(url);
    await sees(page, "#fleet + .empty", "rollcall hooks install claude-code");
    await sees(page, "#agents + .empty", "rollcall agents register scraper-1");
    await sees(page, "#events", /leads, epoch 1\s+node\.leading · 1/);
    const planner = await enrol(engine, "planner", ["git", "shell"]);
    await sees(page, "#agents tbody tr", /planner\s*[0-9a-f]{8}\s+alive\s+git\s*shell\s+\d s/);
    await engine.execute(
      { type: "lease.acquire", taskId: "k1", agentId: planner, ttlMs: 90_000 },
      LIBRARY,
    );
    await sees(page, "#leases tbody tr", /k1\s+planner.*\s+1\s+1 min/);
    await engine.execute({ type: "election.campaign", group: "g1", agentId: planner }, LIBRARY);
    await sees(page, "#leaders tbody tr", /g1\s+planner.*\s+1\s+1\s+\d s/);
    const task = await engine.execute({ ...TASK, taskType: "summarise" }, LIBRARY);
    await sees(page, "#tasks tbody tr", /summarise\s*[0-9a-f]{8}\s+pending/);
    await engine.execute({ type: "task.claim", agentId: planner }, LIBRARY);
    await sees(page, "#tasks tbody tr", /summarise.*\s+claimed\s+planner/);
    await engine.execute(
      {
        type: "task.fail",
        taskId: task.id,
        agentId: planner,
        reason: "no ink",
      },
      LIBRARY,
    );
    await sees(page, "[data-note=queue]", "0 claimed · 1 given up");
    await sees(page, "#events tbody tr:first-child", /is dead, last with planner .*: no ink/);
    await engine.execute({ type: "agent.deregister", agentId: planner }, LIBRARY);
    await sees(page, "#events tbody", /planner \([0-9a-f]{8}\) left/);
    await sees(page, "#fleet + .empty", "No agent is here");
    expect(await page.locator("[data-count]").allInnerTexts()).toEqual([
      "0",
      "0",
      "0",
      "0",
      String(engine.head),
    ]);
    expect(await page.evaluate("globalThis.isFirstLoad")).toBe("still");
    expect(await page.title()).toBe("0 agents · Rollcall");
    expect(complaints).toEqual([]);
  });

  test("shows who needs a person first, with the question, then problems, then work", async () => {
    const { engine, url } = await inProcess();
    await enrol(engine, "worker");
    await tell(engine, "busy", { activity: { ...WORKS, message: "fix the tests" } });
    const { page, complaints } = await open(url);
    await sees(page, "[data-note=agents]", "1 working · 1 idle");
    await tell(engine, "lost", { ...SILENT, activity: WORKS });
    await tell(engine, "filey", ASKS);
    await sees(page, "[data-note=agents]", /^1 needs you · 1 problem · 1 working · 1 idle$/);
    const rows = await page.locator("#fleet tbody tr").allInnerTexts();
    expect(rows.map((row) => row.replaceAll(/\s+/g, " "))).toEqual([
      expect.stringMatching(/^NEEDS YOU filey Shall I drop the table\? /),
      expect.stringMatching(/^PROBLEM lost silent since .* · working /),
      expect.stringMatching(/^WORKING busy fix the tests /),
      expect.stringMatching(/^IDLE worker ?[0-9a-f]{8} /),
    ]);
    expect(await page.title()).toBe("1 needs you · 1 problem · 1 working · 1 idle · Rollcall");
    expect(await page.locator("body").innerText()).not.toContain("all alive");
    expect(complaints).toEqual([]);
  });

  test("with 10,000 agents of files somebody is here, and the question is first", async () => {
    const { engine, url } = await inProcess();
    const names = Array.from({ length: 9_999 }, (_, i) => `agent-${i}`);
    await Promise.all(names.map((name) => tell(engine, name, { activity: WORKS })));
    await tell(engine, "asks", ASKS);
    const { page } = await open(url);
    await sees(page, "[data-count=agents]", "10,000");
    await sees(page, "[data-note=agents]", "1 needs you · 9,999 working");
    await sees(page, "#fleet tbody tr:first-child", /NEEDS YOU\s+asks\s+Shall I drop the table\?/);
    await sees(page, "#fleet ~ .more", "and 9,950 more");
    expect(await page.locator("body").innerText()).not.toContain("No agent is here");
  });

  test("says what is insecure or trusted, and nothing where nothing is", async () => {
    const quiet = await open((await inProcess({ "local-trust": "user" })).url);
    expect(await quiet.page.locator("#exposure").isVisible()).toBe(false);
    const { page } = await open((await inProcess({ trust: "10.1.0.0/16=viewer" })).url);
    await sees(page, "#exposure", "callers from 10.1.0.0/16 need no token, role viewer");
  });

  test("ages grow by themselves", async () => {
    const { engine, url } = await inProcess();
    await enrol(engine, "a");
    const { page } = await open(url);
    const age = async () => Number.parseInt(await page.locator("#events time").last().innerText());
    const before = await age();
    await vi.waitFor(async () => expect(await age()).toBeGreaterThan(before), PATIENCE);
  });

  test.each([400, 1_600])("what agents call themselves breaks nothing, %i wide", async (width) => {
    const { engine, url } = await inProcess();
    const tooLong = enrol(engine, "x".repeat(10_000));
    await expect(tooLong).rejects.toThrow("card.name has 10000 characters");
    const hostile = [
      "<img src=x onerror=alert(1)>",
      "<script>alert(2)</script>",
      "\u202Eevil\u202C\u200B\u2066",
      "W".repeat(128),
      `a${"\u0301".repeat(100)}`,
    ];
    for (const name of hostile) {
      const agentId = await enrol(engine, name, [name.slice(0, 100)]);
      await engine.execute({ type: "lease.acquire", taskId: name, agentId, ttlMs: 0 }, LIBRARY);
      await engine.execute({ type: "election.campaign", group: name, agentId }, LIBRARY);
    }
    const [markup = "", script = ""] = hostile;
    const sinceMs = Date.now();
    const asked = { kind: "text", text: script, options: hostile.slice(0, 2), sinceMs } as const;
    const question = { value: asked, rule: "asks" } as const;
    await tell(engine, "hostile", { name: markup, workspace: `/${markup}`, question });
    const agentId = await enrol(engine, "worker");
    const task = await engine.execute(
      { ...TASK, taskType: "<iframe src=//x>".padEnd(128, "#") },
      LIBRARY,
    );
    await engine.execute({ type: "task.claim", agentId }, LIBRARY);
    const reason = "<b>because</b> ".repeat(60);
    await engine.execute({ type: "task.fail", taskId: task.id, agentId, reason }, LIBRARY);
    await engine.execute({ ...TASK, taskType: "\u202E".repeat(100) }, LIBRARY);

    const { page, complaints } = await open(url, width);
    await sees(page, "#fleet tbody tr:first-child", "<script>alert(2)</script>");
    await sees(page, "#agents", "<img src=x onerror=alert(1)>");
    await sees(page, "#leases", "<script>alert(2)</script>");
    await sees(page, "#tasks", "(nothing visible)");
    await sees(page, "#events", "<b>because</b>");
    const text = await page.locator("body").innerText();
    expect(text).not.toMatch(/[\u200b\u202a-\u202e\u2066-\u2069]/u);
    expect(text).not.toMatch(/\u0301{5}/u);
    expect(await page.locator("main :is(img, script, iframe, b)").count()).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(complaints).toEqual([]);
  });

  test("stays as large as it is, however much there is to show", async () => {
    const { engine, url } = await inProcess();
    const { page } = await open(url);
    for (let i = 1; i < 400; i += 1) await enrol(engine, `agent-${i}`);
    const { nowMs } = engine;
    await vi.waitFor(() => expect(engine.nowMs).toBeGreaterThan(nowMs), { interval: 1 });
    await enrol(engine, "the-newest");
    await sees(page, "#agents ~ .more", "and 350 more");
    await sees(page, "#agents tbody tr:first-child", "the-newest");
    expect(await page.locator("#agents tbody tr").count()).toBe(50);
    expect(await page.locator("#events tbody tr").count()).toBe(30);
  });

  test("lets go of its connection while nobody looks, then catches up", async () => {
    const { engine, url } = await inProcess();
    const { page, complaints } = await open(url);
    const streams = async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return /^rollcall_event_streams_open (\d+)$/m.exec(metrics)?.[1];
    };
    const show = (isHidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      `);
    expect(await streams()).toBe("1");
    await show(true);
    await vi.waitFor(async () => expect(await streams()).toBe("0"), PATIENCE);
    await enrol(engine, "came-unseen");
    await show(false);
    await sees(page, "#agents", "came-unseen");
    expect(await streams()).toBe("1");
    expect(complaints).toEqual([]);
  });

  test("lives through the death of its daemon, and is right again after it", async () => {
    using folder = scratch();
    const { up, url } = await daemon("--data-dir", folder.path);
    await using first = up;
    const { page, complaints } = await open(url);
    await sees(page, "#events", /leads, epoch 1/);
    expect(complaints).toEqual([]);
    first.signal("SIGKILL");
    await first.end();
    await state(page, "reconnecting");
    await sees(page, "#state", "reconnecting…");
    await whileItIsDown(folder.path, "came-meanwhile");
    const args = ["up", "--addr", ":0", "--http-addr", url.slice(7), "--data-dir", folder.path];
    await using again = start(args);
    await again.says(/is up/);
    await state(page, "live");
    await sees(page, "#agents", "came-meanwhile");
    await sees(page, "#events tbody tr:first-child", /leads, epoch 3/);
    expect(await page.evaluate("globalThis.isFirstLoad")).toBe("still");
    // A browser tells that nobody answered; there is nothing else to tell.
    const others = complaints.filter((each) => !/net::ERR_|Failed to load resource/.test(each));
    expect(others).toEqual([]);
  });
});

async function whileItIsDown(folder: string, name: string): Promise<void> {
  const store = sqliteStore({ path: join(folder, "rollcall.db") });
  const newId = () => randomUUID().replaceAll("-", "");
  const engine = await Engine.open({ log: store.log, node: "test", newId, random: Math.random });
  await enrol(engine, name);
  await engine.close();
  await store.close();
}
