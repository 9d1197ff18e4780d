import { expect, onTestFinished, test } from "vitest";
import { openApi } from "../../test/support/daemon/api.ts";
import { ask } from "../../test/support/daemon/fixture.ts";

test("a browser may look, even from our own page, and change nothing", async () => {
  const api = await openApi();
  onTestFinished(() => api.close());
  const origin = `http://127.0.0.1:${api.opened.port}`;
  for (const headers of [{ origin }, { "sec-fetch-site": "same-origin" }]) {
    const body = { card: { name: "x" } };
    const refused = await api.post("/v1/agents/register", body, headers);
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
    expect((refused.body["error"] as { message: string }).message).toContain("may only look");
    for (const method of ["DELETE", "PUT", "PATCH"]) {
      expect((await ask(api.opened.port, "/v1/agents", { method, headers })).status).toBe(403);
    }
    expect((await ask(api.opened.port, "/v1/agents", { headers })).status).toBe(200);
    expect((await ask(api.opened.port, "/v1/agents", { method: "HEAD", headers })).status).toBe(
      200,
    );
  }
  expect(api.engine.head).toBe(1);
});
