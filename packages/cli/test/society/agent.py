"""An agent outside: Python's standard library and the program openssl, nothing of Reprise.

agent.py URL TOKEN_OF_ITS_PARENT PARENT FOLDER prints, as JSON, what it was answered at each step.
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request

url, parent_token, parent, folder = sys.argv[1:5]
key = os.path.join(folder, "agent.pem")


def openssl(*args, data=None):
    return subprocess.run(["openssl", *args], input=data, capture_output=True, check=True).stdout


def sign(statement):
    """The base64 of a signature of bytes that came as base64."""
    path = os.path.join(folder, "statement")
    with open(path, "wb") as file:
        file.write(base64.b64decode(statement))
    return base64.b64encode(openssl("pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", path)).decode()


class Client:
    """Speaks the Model Context Protocol over HTTP, in a session."""

    def __init__(self, token):
        self.token, self.session, self.last = token, None, 0
        version = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "agent.py", "version": "1"}}
        self.send("initialize", version)

    def request(self, method, body=None):
        headers = {"authorization": "Bearer " + self.token, "accept": "application/json, text/event-stream"}
        if self.session:
            headers["mcp-session-id"] = self.session
        if body is not None:
            headers["content-type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method))

    def send(self, method, params):
        self.last += 1
        with self.request("POST", {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}) as answer:
            self.session = answer.headers.get("mcp-session-id") or self.session
            text = answer.read().decode()
        lines = [line[6:] for line in text.splitlines() if line.startswith("data: {")]
        return json.loads(lines[-1] if lines else text)["result"]

    def call(self, tool, **arguments):
        result = self.send("tools/call", {"name": tool, "arguments": arguments})
        return result if result.get("isError") else result["structuredContent"]

    def read(self, uri):
        return json.loads(self.send("resources/read", {"uri": uri})["contents"][0]["text"])


openssl("genpkey", "-algorithm", "ed25519", "-out", key)
public = openssl("pkey", "-in", key, "-pubout", "-outform", "DER")[-32:]
agent = hashlib.sha256(public).hexdigest()

owner = Client(parent_token)
asked = owner.read("society://registration/%s/%s" % (parent, agent))
registered = owner.call(
    "agent_register",
    parent_entity_id=parent,
    agent_type="custom",
    display_name="Outside",
    capabilities={"tools": ["agent_*"]},
    public_key=base64.b64encode(public).decode(),
    proof=sign(asked["statement"]),
)

challenge = owner.call("agent_challenge", agent_id=agent, purpose="api")
forged = owner.call("agent_prove", agent_id=agent, nonce=challenge["nonce"], signature=base64.b64encode(bytes(64)).decode())
challenge = owner.call("agent_challenge", agent_id=agent, purpose="api")
proved = owner.call("agent_prove", agent_id=agent, nonce=challenge["nonce"], signature=sign(challenge["statement"]))

own = Client(proved["token"])
listed = own.call("agent_list")

stream = own.request("GET")
ended = threading.Event()
threading.Thread(target=lambda: (stream.read(), ended.set()), daemon=True).start()
owner.call("agent_deactivate", agent_id=agent, reason="It is no longer needed.")
try:
    own.call("agent_list")
    after = "answered"
except urllib.error.HTTPError as error:
    after = error.code

print(json.dumps({
    "agent": agent,
    "world": asked["world"],
    "registered": registered["agent_id"],
    "status": registered["status"],
    "forged": [forged.get("isError"), forged["content"][0]["text"]],
    "verified": proved["verified"],
    "listed": "agents" in listed,
    "streamEnded": ended.wait(30),
    "after": after,
}))
