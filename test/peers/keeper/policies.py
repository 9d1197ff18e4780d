"""Policies allow and deny with wildcards; a denial wins, and the reason says who decided."""

import grpc
from agentkeeper import PolicyEffect
from agentkeeper.v1 import agentkeeper_pb2 as pb
from peer import connect, refused

client = connect()
set_ = client.set_policy(
    id="allow-all-call",
    subject="agent:*",
    action="call",
    resource="tool:*",
    effect=PolicyEffect.ALLOW,
)
assert set_.id == "allow-all-call" and set_.effect == PolicyEffect.ALLOW
client.set_policy(
    id="deny-scraper-write",
    subject="agent:scraper",
    action="call",
    resource="tool:write_file",
    effect=PolicyEffect.DENY,
)


def check(subject, action, resource):
    result = client.check_policy(subject=subject, action=action, resource=resource)
    return result.allowed, result.reason


assert check("agent:scraper", "call", "tool:write_file") == (
    False,
    'denied by policy "deny-scraper-write"',
)
assert check("agent:scraper", "call", "tool:read_file") == (
    True,
    'allowed by policy "allow-all-call"',
)
allowed, reason = check("user:bob", "call", "tool:read_file")
assert not allowed and "no matching" in reason
assert [policy.id for policy in client.list_policies()] == ["allow-all-call", "deny-scraper-write"]
scrapers = client.list_policies(subject_prefix="agent:scraper")
assert [policy.id for policy in scrapers] == ["deny-scraper-write"]
assert scrapers[0].effect == PolicyEffect.DENY

client.delete_policy("deny-scraper-write")
assert check("agent:scraper", "call", "tool:write_file")[0], "the denial is gone"
with refused(grpc.StatusCode.NOT_FOUND, "no policy deny-scraper-write"):
    client.delete_policy("deny-scraper-write")
with refused(grpc.StatusCode.INVALID_ARGUMENT, "policy.effect is not set"):
    policy = pb.Policy(id="x", subject="*", action="*", resource="*")
    client._entitlements.SetPolicy(pb.SetPolicyRequest(policy=policy))
with refused(grpc.StatusCode.INVALID_ARGUMENT, "policy.id is empty"):
    client.set_policy("", "*", "*", "*", PolicyEffect.ALLOW)
with refused(grpc.StatusCode.INVALID_ARGUMENT, "policy is not set"):
    client._entitlements.SetPolicy(pb.SetPolicyRequest())
with refused(grpc.StatusCode.INVALID_ARGUMENT, "subject is empty"):
    client.check_policy("", "call", "tool:x")
