"""An agent outside: Python's standard library and the program openssl, nothing of Reprise.

agent.py URL TOKEN_OF_ITS_PARENT PARENT FOLDER prints, as JSON, what it was answered at each step.
"""

import base64
import hashlib
import hmac
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


def hkdf(secret, salt, info):
    first = hmac.new(salt, secret, hashlib.sha256).digest()
    return hmac.new(first, info + bytes([1]), hashlib.sha256).digest()


def ghash(key, data, text):
    """The hash of AES-GCM, before it is encrypted."""
    unit, total = int.from_bytes(key, "big"), 0
    padded = b"".join(part + bytes(-len(part) % 16) for part in (data, text))
    padded += (8 * len(data)).to_bytes(8, "big") + (8 * len(text)).to_bytes(8, "big")
    for at in range(0, len(padded), 16):
        total ^= int.from_bytes(padded[at : at + 16], "big")
        product, value = 0, unit
        for bit in range(127, -1, -1):
            if total >> bit & 1:
                product ^= value
            value = value >> 1 ^ (0xE1 << 120 if value & 1 else 0)
        total = product
    return total.to_bytes(16, "big")


def open_private_key(box, agent_key, own):
    """The private key of an agent: version, fresh key, vector, encrypted bytes, tag."""
    fresh, vector, text, tag = box[1:33], box[33:45], box[45:-16], box[-16:]
    path = os.path.join(folder, "fresh.der")
    with open(path, "wb") as file:
        file.write(bytes.fromhex("302a300506032b656e032100") + fresh)
    shared = openssl("pkeyutl", "-derive", "-inkey", reader, "-peerkey", path, "-peerform", "DER")
    box_key = hkdf(shared, fresh + own, b"reprise/society private key 1").hex()
    aes = lambda data, counter: openssl("enc", "-aes-256-ctr", "-K", box_key, "-iv", counter.hex(), data=data)
    hash_key = openssl("enc", "-aes-256-ecb", "-nopad", "-K", box_key, data=bytes(16))
    expected = aes(ghash(hash_key, agent_key, text), vector + (1).to_bytes(4, "big"))
    if expected != tag:
        raise ValueError("the key was not encrypted for this reader, or was altered")
    return aes(text, vector + (2).to_bytes(4, "big"))


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

# A second agent, whose key the world makes: its private key comes encrypted for a key of the parent.
reader = os.path.join(folder, "reader.pem")
openssl("genpkey", "-algorithm", "x25519", "-out", reader)
reader_public = openssl("pkey", "-in", reader, "-pubout", "-outform", "DER")[-32:]
owner.call("agent_reader_key", public_key=base64.b64encode(reader_public).decode())
second = owner.call(
    "agent_register",
    parent_entity_id=parent,
    agent_type="custom",
    display_name="Second",
    capabilities={"tools": ["agent_*"]},
)
secret = open_private_key(base64.b64decode(second["private_key_encrypted"]), base64.b64decode(second["public_key"]), reader_public)
with open(key, "wb") as file:
    file.write(openssl("pkey", "-inform", "DER", data=bytes.fromhex("302e020100300506032b657004220420") + secret))
challenge = owner.call("agent_challenge", agent_id=second["agent_id"], purpose="api")
opened = owner.call("agent_prove", agent_id=second["agent_id"], nonce=challenge["nonce"], signature=sign(challenge["statement"]))

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
    "opened": opened["verified"],
    "listed": "agents" in listed,
    "streamEnded": ended.wait(30),
    "after": after,
}))
