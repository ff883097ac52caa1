from __future__ import annotations

import http.server
import socket
import threading

import pytest

from privlib import models, synthesis


@pytest.fixture
def served(endpoint, tiny_lm):
    return models.language_model(endpoint=endpoint, model=str(tiny_lm))


PROMPTS = ["the patient said", "late delivery and a very long wait", "tea or coffee"]


def test_a_served_model_answers_greedily_as_the_local_one_does(served, tiny_lm):
    assert served.generate(PROMPTS, 10) == models.language_model(tiny_lm).generate(PROMPTS, 10)


def test_served_draws_follow_the_seed(served):
    one = served.generate(["tea or coffee"] * 3, 8, temperature=1.0, seed=1)
    assert one == served.generate(["tea or coffee"] * 3, 8, temperature=1.0, seed=1)
    assert len(set(one)) == 3
    assert one != served.generate(["tea or coffee"] * 3, 8, temperature=1.0, seed=2)


def test_a_served_model_paraphrases(served, monkeypatch):
    asked = []
    real = type(served).generate

    def generate(self, prompts, *rest, **more):
        asked.append(list(prompts))
        return real(self, prompts, *rest, **more)

    monkeypatch.setattr(type(served), "generate", generate)
    texts = ["the patient said tea or coffee is good", "late delivery and a very long wait"]
    made = synthesis.paraphrase(texts, served.generate, 2, max_new_tokens=6, temperature=1.0, seed=3)
    assert [text in prompt for text, prompt in zip(2 * texts[:1] + 2 * texts[1:], asked[0], strict=True)] == [True] * 4
    assert made.answers == sum(map(len, asked))
    kept = sum(map(len, made.texts))
    assert kept == 4 - made.missing == made.answers - sum(made.faults.values())
    assert kept > 0  # random weights, but words
    assert made == synthesis.paraphrase(texts, served.generate, 2, max_new_tokens=6, temperature=1.0, seed=3)


def test_a_served_model_cannot_be_scored_or_checked(served):
    assert served.checksum is None
    with pytest.raises(RuntimeError, match="no log-probabilities"):
        served.score(["tea"])


def test_what_the_server_refuses_is_said_with_its_status(endpoint):
    unknown = models.language_model(endpoint=endpoint, model="/nowhere/model")
    with pytest.raises(RuntimeError, match="refused model '/nowhere/model' with HTTP status"):
        unknown.generate(["tea"], 2)


def test_nobody_at_the_endpoint_is_a_connection_error():
    with socket.socket() as held:  # bound and not listening: a connection is refused
        held.bind(("127.0.0.1", 0))
        lm = models.language_model(endpoint=f"http://127.0.0.1:{held.getsockname()[1]}/v1", model="m", api_key="k3y")
        with pytest.raises(ConnectionError, match="no language model answers"):
            lm.generate(["tea"], 2)
    assert "k3y" not in repr(lm)


class Recorder(http.server.BaseHTTPRequestHandler):
    """Answers every request with a page that is no API answer, and keeps the key it came with."""

    def do_POST(self):
        self.server.keys.append(self.headers["Authorization"])
        self.rfile.read(int(self.headers["Content-Length"]))
        page = b"<html>not an API</html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


def test_the_environments_key_is_not_sent_and_a_page_is_no_answer(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    with http.server.HTTPServer(("127.0.0.1", 0), Recorder) as server:
        server.keys = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        for api_key in (None, "mine"):
            lm = models.language_model(endpoint=f"http://127.0.0.1:{server.server_port}/v1", model="m", api_key=api_key)
            with pytest.raises(RuntimeError, match="answered without text"):
                lm.generate(["tea"], 2)
        server.shutdown()
        thread.join()
    assert server.keys == ["Bearer none", "Bearer mine"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"endpoint": "http://127.0.0.1:1/v1"},
        {"endpoint": "http://127.0.0.1:1/v1", "model": "m", "name_or_path": "x"},
        {"model": "m"},
        {"api_key": "k3y"},
    ],
)
def test_arguments_that_exclude_each_other_are_refused(arguments):
    with pytest.raises(ValueError, match="endpoint") as raised:
        models.language_model(**arguments)
    assert "k3y" not in str(raised.value)
