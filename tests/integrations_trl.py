"""Trains a tiny random model for two steps with TRL's GRPOTrainer and our rewards.

test_integrations.py runs it. It needs torch, transformers, datasets and trl, which that installs into an
environment of its own, and no network: the model is made here, and its tokenizer knows single characters.
"""

import json
import math
import sys
from importlib.metadata import version

from datasets import Dataset
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

import planner_eval as pe

CHARACTERS = "fgx(=1)\n []"


def tokenizer() -> PreTrainedTokenizerFast:
    words = {word: at for at, word in enumerate(["<pad>", "<eos>", "<unk>", *CHARACTERS])}
    made = Tokenizer(WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = Split(Regex("."), "isolated")
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=made, **special)


def main(folder: str) -> None:
    words = tokenizer()
    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64}
    ends = {"bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(words), **sizes, **ends))
    rows = [{"prompt": "f(x=1)\n", "gold": "f(x=1)"}, {"prompt": "g(x=1)\n", "gold": "g(x=1)"}] * 2
    options = GRPOConfig(
        output_dir=folder, max_steps=2, per_device_train_batch_size=4, num_generations=4,
        max_completion_length=8, logging_steps=1, report_to=[], save_strategy="no", use_cpu=True,
        disable_tqdm=True, seed=0
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=model, reward_funcs=pe.reward(unreadable=-0.1), args=options,
        train_dataset=Dataset.from_list(rows), processing_class=words
    )  # fmt: skip
    trainer.train()
    logged = [row for row in trainer.state.log_history if "rewards/planeval/mean" in row]
    assert len(logged) == 2, trainer.state.log_history
    for row in logged:
        assert -0.1 <= row["rewards/planeval/mean"] <= 1
        assert math.isfinite(row["rewards/planeval/std"])
        assert 0 <= row["planeval/readable"] <= 1
    told = {name: version(name) for name in ("torch", "transformers", "trl", "planner_eval")}
    print(json.dumps({"versions": told, "logged": [row["planeval/readable"] for row in logged]}))


if __name__ == "__main__":
    main(sys.argv[1])
