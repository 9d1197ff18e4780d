"""What every gRPC service offers its operators: a health check, and the list of what it serves."""

import sys

import grpc
from agentkeeper.v1 import agentkeeper_pb2 as pb
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from peer import refused

channel = grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}")
health = health_pb2_grpc.HealthStub(channel)
SERVING = health_pb2.HealthCheckResponse.SERVING
ours = [f"agentkeeper.v1.{name}" for name in pb.DESCRIPTOR.services_by_name]
assert len(ours) == 5
for service in ("", *ours):
    assert health.Check(health_pb2.HealthCheckRequest(service=service)).status == SERVING, service
with refused(grpc.StatusCode.NOT_FOUND):
    health.Check(health_pb2.HealthCheckRequest(service="agentkeeper.v1.Nonsense"))
watch = health.Watch(health_pb2.HealthCheckRequest())
assert next(watch).status == SERVING
watch.cancel()

# The very descriptors that the SDK was made from, but for what it does not know of.
reflected = ProtoReflectionDescriptorDatabase(channel)
assert set(ours) <= set(reflected.get_services())
pool = DescriptorPool(reflected)
for name, known in pb.DESCRIPTOR.services_by_name.items():
    service = pool.FindServiceByName(f"agentkeeper.v1.{name}")
    for method in known.methods:
        told = service.FindMethodByName(method.name)
        assert told.input_type.full_name == method.input_type.full_name, method.full_name
        assert told.output_type.full_name == method.output_type.full_name, method.full_name
        for field in method.input_type.fields:
            assert told.input_type.fields_by_name[field.name].number == field.number, field

# A client that knows nothing but what it was told can call.
find = pool.FindServiceByName("agentkeeper.v1.RegistryService").FindMethodByName("Find")
Request, Response = GetMessageClass(find.input_type), GetMessageClass(find.output_type)
call = channel.unary_unary(
    "/agentkeeper.v1.RegistryService/Find",
    request_serializer=Request.SerializeToString,
    response_deserializer=Response.FromString,
)
assert list(call(Request(limit=1)).agents) == []
