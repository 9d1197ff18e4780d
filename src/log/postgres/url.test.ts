import { describe, expect, test } from "vitest";
import { parsePostgresUrl } from "./url.ts";

test("a URL names hosts, user, database and schema", () => {
  expect(parsePostgresUrl("postgresql://me@one:1111,two/fleet?schema=team_1")).toMatchObject({
    hosts: [
      { host: "one", port: 1111 },
      { host: "two", port: undefined },
    ],
    user: "me",
    database: "fleet",
    schema: "team_1",
    description: "one:1111,two/fleet, schema team_1",
  });
});

test("what it does not say comes from the environment of Postgres", () => {
  expect(parsePostgresUrl("postgres://")).toMatchObject({
    hosts: [{ host: undefined, port: undefined }],
    user: undefined,
    database: undefined,
    schema: "rollcall",
    sslMode: undefined,
  });
});

test("a unix socket is named by its folder, an IPv6 address in brackets", () => {
  const { hosts } = parsePostgresUrl("postgres:///fleet?host=/run/postgresql&port=5433");
  expect(hosts).toEqual([{ host: "/run/postgresql", port: 5433 }]);
  expect(parsePostgresUrl("postgres://[::1]:99/x").hosts).toEqual([{ host: "::1", port: 99 }]);
  expect(parsePostgresUrl("postgres://%2Frun%2Fpg/x").hosts[0]?.host).toBe("/run/pg");
});

describe("is refused, with what is wrong and without its text:", () => {
  test.each([
    ["postgres://me:hunter2@db/x", "it has a password"],
    ["postgres://db:99999/x", "99999 is no port"],
    ["postgres://db/x?schema=Team", "Team is no name for its schema"],
    ["postgres://db/x?schema=pg_catalog", "pg_catalog is no name for its schema"],
    ["postgres://db/x?shema=team", "it has no parameter shema"],
    ["postgres://db/x?sslmode=maybe", "expected one of disable, require"],
    ["postgres://db/x?target_session_attrs=any", "can only be read-write"],
    ["postgres://db/x?host=/run", "names its host twice"],
    ["postgres://%zz/x", "two hexadecimal digits"],
    ["postgres://a:b:c/x", "expected postgres://USER@HOST"],
    ["mysql://db/x", "expected postgres://USER@HOST"],
  ])("%s", (url, why) => {
    expect(() => parsePostgresUrl(url)).toThrow(why);
    expect(() => parsePostgresUrl(url)).toThrow(expect.not.stringContaining("hunter2"));
  });
});
