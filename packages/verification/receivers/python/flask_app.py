"""A receiver in Flask: CALL_WEBHOOK_SECRET=… flask --app flask_app run --port 3000"""

import os

from flask import Flask, jsonify, request

import effects
from call_webhooks import Receiver

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 1_000_000  # bytes
receiver = Receiver(os.environ["CALL_WEBHOOK_SECRET"].split(), effects.handle)


@app.route("/hook", methods=["POST"], strict_slashes=False)
def hook():
    # The raw bytes: request.json would be too late for the signature.
    return "", receiver.receive(request.headers, request.get_data(cache=False))


@app.get("/effects")
def report():
    return jsonify(effects.report())


@app.errorhandler(404)
def unknown_path(_error):
    return "", 503  # a 404 would pause the rule
