"""What the peer says of each file and each timestamp it is given, as one JSON object."""

import json
import sys
from pathlib import Path

import agent_status


def errors_of(path):
    try:
        return agent_status.validate_file(path)
    except Exception as error:  # it has no word for this one
        return ["crash: " + type(error).__name__]


def moment_of(text):
    try:
        return agent_status.parse_timestamp(text).timestamp() * 1000
    except agent_status.ValidationError as error:
        return str(error)


asked = json.load(sys.stdin)
json.dump(
    {
        "files": {path: errors_of(Path(path)) for path in asked["files"]},
        "moments": {text: moment_of(text) for text in asked["moments"]},
    },
    sys.stdout,
)
