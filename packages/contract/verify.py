# Checks its own `verify` with all vectors. Run it where you installed @call-webhooks/contract.
import base64, glob, hashlib, hmac, json, re

def verify(headers, body, secrets, now):
    """Whether a delivery is authentic. headers: names in lower case; body: bytes; now: Unix seconds."""
    webhook_id = headers.get("x-service-webhook-id", "")
    timestamp = headers.get("x-service-timestamp", "")
    signature = headers.get("x-service-signature", "")
    if not webhook_id or not signature.startswith("v1,"):
        return False
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > 300:
        return False
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        computed = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        if hmac.compare_digest(computed, signature[3:].encode()):
            return True
    return False

vectors = []
for path in sorted(glob.glob("node_modules/@call-webhooks/contract/vectors/*.json")):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    assert content["version"] == 1, path
    vectors += content["vectors"]

deliveries = [(vector, delivery) for vector in vectors for delivery in vector["deliveries"]]
for vector, delivery in deliveries:
    headers = {name.lower(): value for name, value in delivery["headers"]}
    body = base64.b64decode(delivery["body"]["base64"])
    authentic = verify(headers, body, vector["secrets"], delivery["now"] / 1000)
    assert authentic == (delivery["expect"]["result"] != "reject"), vector["id"]
print(f"{len(deliveries)} deliveries of {len(vectors)} vectors")
