import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { codeOf } from "../../core/errors.ts";
import type { Connection } from "./driver.ts";
import { POSTGRES } from "./limits.ts";
import { Pool } from "./pool.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Its host may be gone without a word: then nothing is answered, and it looks alive. */
class FakeConnection implements Connection {
  readonly place = "";
  isAlive = true;
  isGone = false;
  readonly asked: string[] = [];
  onNotice: undefined;
  onNotification: undefined;
  onEnd: undefined;

  query<Row>(sql: string): Promise<readonly Row[]> {
    this.asked.push(sql);
    return this.isGone ? new Promise(() => undefined) : Promise.resolve([]);
  }

  bodies<Row>(sql: string): Promise<readonly Row[]> {
    return this.query(sql);
  }

  end(): void {
    this.isAlive = false;
  }
}

function poolOf(size: number, idleMs?: number) {
  const made: FakeConnection[] = [];
  const connect = () => {
    const connection = new FakeConnection();
    made.push(connection);
    return Promise.resolve(connection);
  };
  return { made, pool: new Pool(connect, size, idleMs) };
}

/** So many calls at once, so that there are as many connections. */
async function used(pool: Pool, times: number): Promise<void> {
  const call = (connection: Connection) => connection.query("");
  await Promise.all(Array.from({ length: times }, () => pool.run(call)));
}

test("when one connection proves dead the others that are idle are not tried", async () => {
  const { made, pool } = poolOf(4);
  await used(pool, 4);
  const lost = pool.run(async (connection) => {
    // As the driver does with one that gives no answer.
    connection.end();
    throw new Error("no answer");
  });
  await expect(lost).rejects.toThrow("no answer");
  await used(pool, 1);
  expect(made.map(({ asked }) => asked)).toEqual([[""], [""], [""], [""], [""]]);
  expect(made.map(({ isAlive }) => isAlive)).toEqual([false, false, false, false, true]);
});

test("one that was idle for long is asked first: half a second, if its host is gone", async () => {
  const { made, pool } = poolOf(4);
  await used(pool, 4);
  for (const connection of made) connection.isGone = true;
  await vi.advanceTimersByTimeAsync(POSTGRES.idleMs);
  const next = used(pool, 1);
  await vi.advanceTimersByTimeAsync(POSTGRES.idleAnswerMs);
  await next;
  expect(made.flatMap(({ asked }) => asked)).toEqual(["", "", "", "", "SELECT 1", ""]);
  expect(made.map(({ isAlive }) => isAlive)).toEqual([false, false, false, false, true]);
});

test("one that was idle for long and answers is used again", async () => {
  const { made, pool } = poolOf(4);
  await used(pool, 1);
  await vi.advanceTimersByTimeAsync(POSTGRES.idleMs);
  await used(pool, 1);
  expect(made.map(({ asked }) => asked)).toEqual([["", "SELECT 1", ""]]);
});

test("one that cannot be replaced is used, however long it was idle", async () => {
  const { made, pool } = poolOf(1, Infinity);
  await used(pool, 1);
  await vi.advanceTimersByTimeAsync(10 * POSTGRES.idleMs);
  await used(pool, 1);
  expect(made.map(({ asked }) => asked)).toEqual([["", ""]]);
});

test("a pool that closes while an idle connection is asked makes no other", async () => {
  const { made, pool } = poolOf(1);
  await used(pool, 1);
  for (const connection of made) connection.isGone = true;
  await vi.advanceTimersByTimeAsync(POSTGRES.idleMs);
  const refused = used(pool, 1).catch(codeOf);
  await vi.advanceTimersByTimeAsync(1);
  pool.close();
  await vi.advanceTimersByTimeAsync(POSTGRES.idleAnswerMs);
  expect(await refused).toBe("WRONG_STATE");
  expect(made).toHaveLength(1);
});
