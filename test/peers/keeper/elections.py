"""One candidate leads; who joins displaces nobody; resigning and dying hand over at once."""

import grpc
from peer import Heard, begun, connect, refused

client = connect()
group = "orchestrator:pipeline-A"
one, two, three = (client.register(name, "", "1") for name in ("one", "two", "three"))

heard = Heard()
elsewhere = Heard()
with begun(client.watch_election(group, heard)), begun(client.watch_election("other", elsewhere)):
    first = client.campaign(group, one.agent_id)
    assert first.leader_agent_id == one.agent_id and first.elected_at is not None
    # "A new candidate joining never displaces the current leader — only death or resign() does."
    for each in (two, three, one):
        state = client.campaign(group, each.agent_id)
        assert (state.leader_agent_id, state.term) == (one.agent_id, first.term)

    client.resign(group, one.agent_id)
    second = heard.wait_for(lambda state: state.leader_agent_id == two.agent_id)
    assert second.term > first.term
    two.deregister()
    third = heard.wait_for(lambda state: state.leader_agent_id == three.agent_id)
    assert third.term > second.term
    assert client.campaign(group, three.agent_id).leader_agent_id == three.agent_id
    assert client.campaign(group, one.agent_id).leader_agent_id == three.agent_id
    client.resign(group, one.agent_id)
    assert client.campaign(group, three.agent_id).term == third.term, "a standby just leaves"
    client.resign(group, three.agent_id)
    vacant = heard.wait_for(lambda state: state.leader_agent_id == "")
    assert vacant.term > third.term
    assert [state.group for state in heard.all] == [group] * 4
    assert elsewhere.all == [], "other groups are not told"

with refused(grpc.StatusCode.NOT_FOUND, "not a candidate"):
    client.resign(group, one.agent_id)
with refused(grpc.StatusCode.NOT_FOUND, "is dead"):
    client.campaign(group, two.agent_id)
with refused(grpc.StatusCode.INVALID_ARGUMENT, "group is empty"):
    client.campaign("", one.agent_id)
