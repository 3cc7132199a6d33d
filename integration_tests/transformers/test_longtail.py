"""GECE's label over the lab's model: gradients as a finite difference has them, the commands."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from record.__main__ import main
from scaar.core.errors import DataCorrupt, PromptTooLong
from scaar.evaluator.store.folder import read_results
from scaar.generator.engines.decoding.feed_forward import FeedForwardGradients
from scaar.generator.engines.decoding.torch_decoder import TorchDecoder
from scaar.generator.engines.transformers import open_checkpoint
from scaar.generator.settings import GeneratorSettings
from scaar.lab import layout
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world
from scaar.testing.commands import run_scaar

QUESTION = draw_questions(build_world(2000), count=1)[0]
REQUEST = (layout.prompt(QUESTION.question, []), " So the answer is", QUESTION.answers[0])
FOLDER = str(model_folder(LAB_LM))


@pytest.fixture
def model():
    return open_checkpoint(
        GeneratorSettings(engine="transformers", model=FOLDER, attention=False, dtype="float32")
    )


@pytest.fixture
def network(model):
    assert isinstance(model.decoder, TorchDecoder)
    return model.decoder.network


def test_gradients_are_those_of_a_finite_difference(model, network) -> None:
    network.double()
    gradients = FeedForwardGradients(model, network)
    found = dict(zip(gradients.weights, gradients.gradient(*REQUEST), strict=True))
    weights = dict(network.named_parameters())
    chance, step = np.random.default_rng(0), 1e-4
    for name, gradient in found.items():
        norm = float(np.linalg.norm(gradient))
        anywhere = chance.normal(size=gradient.shape)
        # The layers' norms compute in single precision whatever the weights are in.
        for direction in (gradient / norm, anywhere / np.linalg.norm(anywhere)):
            losses = []
            for moved in (step, -step):
                with torch.no_grad():
                    change = torch.from_numpy(direction.astype(np.float64)) * moved
                    weights[name] += change
                    losses.append(gradients.loss(*REQUEST).item())
                    weights[name] -= change
            slope = float(np.vdot(gradient, direction))
            assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(slope, abs=1e-3 * norm)


def test_the_loss_is_the_mean_per_token_of_the_reference(model, network) -> None:
    gradients = FeedForwardGradients(model, network)
    prompt, started, reference = REQUEST
    before = model.encode(prompt, started)
    ids = model.encode(prompt, f"{started} {reference}")
    with torch.no_grad():
        likely = network(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    expected = [-float(likely[at - 1, ids[at]]) for at in range(len(before), len(ids))]
    assert gradients.loss(*REQUEST).detach().item() == pytest.approx(np.mean(expected), rel=1e-5)


def test_the_last_layers_feed_forward_weights_are_taken_and_no_others(model, network) -> None:
    depth = network.config.num_hidden_layers
    names = FeedForwardGradients(model, network, layers=2).weights
    layers = {name.split(".layers.")[1].split(".")[0] for name in names}
    assert layers == {str(depth - 2), str(depth - 1)}
    assert all(".mlp." in name for name in names)
    assert {name for name, each in network.named_parameters() if each.requires_grad} == set(names)


def test_a_text_beyond_the_context_and_a_network_without_layers_are_reported(
    model, network
) -> None:
    short = replace(model, max_total_tokens=4)
    with pytest.raises(PromptTooLong, match="at most 4 tokens"):
        FeedForwardGradients(short, network).gradient(*REQUEST)
    network.config.num_hidden_layers = 77
    with pytest.raises(DataCorrupt, match="its 77 layers are not found"):
        FeedForwardGradients(model, network)


def test_the_lab_is_labelled_by_one_command_and_again_without_work(tmp_path: Path) -> None:
    out = tmp_path / "labels"
    requested = ("eval", "longtail", "label", "--dataset", "lab", "--limit", "10")
    ran = run_scaar(*requested, "--model", FOLDER, "--out", str(out))
    assert ran.status == 0, ran.err
    assert "precision at 20%" in ran.out
    assert "2 of them long-tail" in ran.err
    labels = [json.loads(line) for line in (out / "labels.jsonl").read_text().splitlines()]
    assert sorted(each["rank"] for each in labels) == list(range(1, 11))
    assert all(each["parts"]["frequency"] > 0 for each in labels)
    assert run_scaar(*requested, "--model", FOLDER, "--out", str(out)).out == ran.out


@pytest.mark.long
def test_the_record_of_the_long_tail_is_run_and_made_into_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, docs = tmp_path / ".longtail", tmp_path / "docs"

    def called(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["record", *arguments, "--record", "longtail"])
        return main()

    assert called("run", "--out", str(out), "--limit", "40") == 0
    results = read_results(out / "policies")
    assert called("run", "--out", str(out), "--limit", "40") == 0
    assert read_results(out / "policies") == results
    assert called("page", str(out), "--docs", str(docs)) == 0
    page = (docs / "longtail.md").read_text()
    assert page.count("\n## ") == 7
    assert "| single_round |" in page
    assert (docs / "longtail" / "policies-gated.svg").exists()
    assert str(tmp_path) not in page
