import { expect, test } from "vitest";
import { CallSeconds } from "./call-seconds.ts";

test("the page has the calls of each method that was called, by how long they took", () => {
  const seconds = new CallSeconds();
  const beat = seconds.of("/keeper/Beat");
  seconds.of("/keeper/Never");
  for (const each of [0.0001, 0.0002, 0.3, 11]) beat.add(each);

  const lines = seconds.text().split("\n");

  expect(lines.slice(0, 4)).toEqual([
    "# HELP agentkeeper_rpc_seconds How long gRPC calls with one answer take, by method.",
    "# TYPE agentkeeper_rpc_seconds histogram",
    'agentkeeper_rpc_seconds_bucket{le="0.0001",method="/keeper/Beat"} 1',
    'agentkeeper_rpc_seconds_bucket{le="0.00025",method="/keeper/Beat"} 2',
  ]);
  expect(lines.slice(11)).toEqual([
    'agentkeeper_rpc_seconds_bucket{le="0.5",method="/keeper/Beat"} 3',
    'agentkeeper_rpc_seconds_bucket{le="2",method="/keeper/Beat"} 3',
    'agentkeeper_rpc_seconds_bucket{le="10",method="/keeper/Beat"} 3',
    'agentkeeper_rpc_seconds_bucket{le="+Inf",method="/keeper/Beat"} 4',
    'agentkeeper_rpc_seconds_sum{method="/keeper/Beat"} 11.3003',
    'agentkeeper_rpc_seconds_count{method="/keeper/Beat"} 4',
    "",
  ]);
});
