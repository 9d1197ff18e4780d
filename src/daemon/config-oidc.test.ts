import { describe, expect, test } from "vitest";
import { loadConfig } from "./config.ts";

const SET = {
  "oidc-issuer": "https://login.example/realms/team",
  "oidc-audience": "rollcall",
  "oidc-roles": "*=viewer",
};

function load(flags: Partial<Record<string, string>>) {
  return loadConfig({ flags, env: {}, home: "/nowhere" });
}

describe("the issuer of JWTs", () => {
  test("is none unless it is set", async () => {
    expect((await load({})).oidc).toBeUndefined();
  });

  test("has rules for claims by their path or URL, and values with any sign", async () => {
    const roles = [
      "groups:admins=admin",
      "realm_access.roles:ops=operator",
      "https://x.example/roles:a:b=c=agent",
      "*=viewer",
    ];
    expect((await load({ ...SET, "oidc-roles": roles.join(",") })).oidc).toEqual({
      issuer: "https://login.example/realms/team",
      audience: "rollcall",
      claim: "sub",
      roles: [
        { claim: "groups", value: "admins", role: "admin" },
        { claim: "realm_access.roles", value: "ops", role: "operator" },
        { claim: "https://x.example/roles", value: "a:b=c", role: "agent" },
        { role: "viewer" },
      ],
    });
  });

  test.each(["oidc-issuer", "oidc-audience", "oidc-roles"])(
    "is not let in without %s",
    async (name) => {
      await expect(load({ ...SET, [name]: undefined })).rejects.toThrow(
        "oidc_issuer, oidc_audience and oidc_roles go together: give all three",
      );
    },
  );

  test.each([
    ["oidc-issuer", "http://login.example"],
    ["oidc-issuer", "https://login.example/?a=b"],
    ["oidc-issuer", "login.example"],
    ["oidc-issuer", "https://user:secret@login.example"],
    ["oidc-roles", "admins=admin"],
    ["oidc-roles", "groups:admins=root"],
    ["oidc-roles", "groups:boxes=outpost"],
    ["oidc-audience", ""],
  ])("is refused with --%s %s", async (name, value) => {
    await expect(load({ ...SET, [name]: value })).rejects.toThrow(`--${name} is `);
  });

  test("may be on this machine without TLS, for trying", async () => {
    const { oidc } = await load({ ...SET, "oidc-issuer": "http://127.0.0.1:8080" });
    expect(oidc?.issuer).toBe("http://127.0.0.1:8080");
  });
});
