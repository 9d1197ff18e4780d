import { expect, test, vi } from "vitest";
import { connect } from "./driver.ts";
import { parsePostgresUrl } from "./url.ts";

vi.mock("pg", () => {
  throw new Error("Cannot find package 'pg'");
});

test("says what to install where the package is missing", async () => {
  const url = parsePostgresUrl("postgres://127.0.0.1/fleet");
  const connecting = connect({ url }, { host: "127.0.0.1", port: 1 });
  await expect(connecting).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
  await expect(connecting).rejects.toThrow("npm install pg beside rollcall");
});
