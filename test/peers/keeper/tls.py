"""A plain grpcio client: TLS by the daemon's certificate, and a bearer token with every call."""

import os
import sys

import grpc
from agentkeeper.v1 import agentkeeper_pb2 as pb
from agentkeeper.v1 import agentkeeper_pb2_grpc as api
from peer import refused

DEADLINE_S = 10

with open(os.environ["CERTIFICATE"], "rb") as file:
    TLS = grpc.ssl_channel_credentials(file.read())


def registry(token=None, credentials=TLS):
    if token is not None:
        bearer = grpc.access_token_call_credentials(token)
        credentials = grpc.composite_channel_credentials(credentials, bearer)
    return api.RegistryServiceStub(grpc.secure_channel(sys.argv[1], credentials))


def register(stub):
    card = pb.AgentCard(name="by-grpcio", version="1")
    return stub.Register(pb.RegisterRequest(card=card), timeout=DEADLINE_S)


assert register(registry(os.environ["AGENT"])).agent_id
assert len(registry(os.environ["VIEWER"]).Find(pb.FindRequest(), timeout=DEADLINE_S).agents) == 1
with refused(grpc.StatusCode.PERMISSION_DENIED, "token:viewer (viewer) may not agent.register"):
    register(registry(os.environ["VIEWER"]))
for name, reason in [("WRONG", "not known"), ("EXPIRED", "expired"), ("REVOKED", "revoked")]:
    with refused(grpc.StatusCode.UNAUTHENTICATED, reason):
        register(registry(os.environ[name]))
with refused(grpc.StatusCode.UNAVAILABLE):
    register(registry(os.environ["AGENT"], grpc.ssl_channel_credentials()))
