"""An agent of Python's own library, through `windrow gateway`: a tool, its result, and the answer, streaming and not.

    npx windrow gateway run -- python3 examples/gateway.py
    npx windrow gateway run -- python3 examples/gateway.py --stream

The address is that of OPENAI_BASE_URL, the key that of OPENAI_API_KEY.
"""

import json
import os
import sys
import urllib.request

BASE = os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:4180/v1")
MODEL = os.environ.get("MODEL", "gpt-4o")
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Reads a file of this folder.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
]


def post(messages, stream):
    body = {"model": MODEL, "messages": messages, "tools": TOOLS, "stream": stream}
    request = urllib.request.Request(
        BASE + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={
            "content-type": "application/json",
            "authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none"),
            # Names the conversation in the store; it is taken off before the request leaves.
            "x-windrow-session": "python-example",
        },
    )
    return urllib.request.urlopen(request)


def whole(response):
    return json.load(response)["choices"][0]["message"]


def streamed(response):
    message = {"role": "assistant", "content": "", "tool_calls": []}
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            message["content"] += delta.get("content") or ""
            for part in delta.get("tool_calls") or []:
                if part["index"] == len(message["tool_calls"]):
                    empty = {"id": part["id"], "type": "function", "function": {"name": "", "arguments": ""}}
                    message["tool_calls"].append(empty)
                call = message["tool_calls"][part["index"]]["function"]
                for name, text in part["function"].items():
                    call[name] += text
    if not message["tool_calls"]:
        del message["tool_calls"]
    return message


def read_file(path):
    # Nothing outside of this folder.
    with open(os.path.basename(path), encoding="utf-8", errors="replace") as file:
        return file.read(4000)


def main():
    stream = "--stream" in sys.argv
    messages = [{"role": "user", "content": "What does README.md say?"}]
    while True:
        with post(messages, stream) as response:
            message = streamed(response) if stream else whole(response)
        messages.append(message)
        if not message.get("tool_calls"):
            print(message["content"])
            return
        for call in message["tool_calls"]:
            try:
                result = read_file(json.loads(call["function"]["arguments"])["path"])
            except (OSError, KeyError, ValueError) as error:
                result = "error: " + str(error)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


main()
