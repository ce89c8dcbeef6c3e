"""Trains the Guide from nothing: `python packaging/starters/train_guide.py --minutes 85`.

First come the words: the network begins as one that takes the mean of all words, so that which words ask for which
answer, and which sentence of an answer follows which, is learned for a fraction of the work. Then the whole network
learns on, gently, what a mean cannot tell. It goes on from the last checkpoint, so that the work can be done in pieces;
the same seeds on the same machine give the same Guide however it is cut, but for rounding.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import guide_network
import torch
import torch.nn.functional as F
from guide_network import Network, Shape
from guide_text import END, PAD, make_tokenizer, prompt, save_tokenizer, sentences, topic
from tokenizers import Tokenizer
from wordings import ANSWERS, Question, Wordings

BATCH = 64
SPOKEN = 8  # one question of so many is answered in full
LAST_PART = 0.5  # in which the learning rate falls
WORD_STEPS, WORD_BATCH, WORD_RATE = 2000, 256, 5e-3  # of the first part, on the mean of words
POOL = 16  # batches made together, so that questions of like length share one
RATE, WORD_SHARE, WARM_UP, DECAY = 3e-4, 0.5, 50, 0.02  # words, learned already, move less
KEPT = 0.998  # of the slowly moving average that is shipped
SPLIT_WORDS = 0.08  # how often a merge of the tokenizer is left out, so that unknown words are read from their parts


class Course:
    """Batches of (ids, the positions whose next token is learned), made from the step's number alone."""

    def __init__(self, tokenizer: Tokenizer, wordings: Wordings) -> None:
        self.tokenizer, self.wordings = tokenizer, wordings
        self.pad = tokenizer.token_to_id(PAD)
        self.said = {
            name: [*map(tokenizer.token_to_id, sentences(name)), tokenizer.token_to_id(END)] for name in ANSWERS
        }
        self.topics = {name: tokenizer.token_to_id(topic(name)) for name in ANSWERS}

    def batches(self, number: int, batch: int, spoken: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """POOL batches of questions; one question of `spoken` is answered in full, the others by the answer's name."""
        questions = list(itertools.islice(self.wordings.questions(number), batch * POOL))
        self.tokenizer.model.dropout = SPLIT_WORDS
        read = [encoding.ids for encoding in self.tokenizer.encode_batch([prompt(question) for question in questions])]
        self.tokenizer.model.dropout = None
        rows = []
        for at, (question, ids) in enumerate(zip(questions, read, strict=True)):
            said = self.said[question.answer] if at % spoken == 0 else []
            row = [*ids, self.topics[question.answer], *said]
            rows.append((row, [-100] * (len(ids) - 1) + row[len(ids) :]))
        rows.sort(key=lambda row: len(row[0]))
        batches = [self._padded(rows[at : at + batch]) for at in range(0, len(rows), batch)]
        Random(number).shuffle(batches)
        return batches

    def _padded(self, rows: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, torch.Tensor]:
        longest = max(len(ids) for ids, _ in rows)
        ids = torch.full((len(rows), longest - 1), self.pad)
        targets = torch.full((len(rows), longest - 1), -100)
        for at, (row, wanted) in enumerate(rows):
            ids[at, : len(row) - 1] = torch.tensor(row[:-1])
            targets[at, : len(wanted)] = torch.tensor(wanted)
        return ids, targets


def loss_of(network: Network, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    learned = targets >= 0
    return F.cross_entropy(network.logits(states[learned]).float(), targets[learned])


def learn_words(network: Network, course: Course) -> None:
    """The first part: what words and answers there are, read as the mean of all words."""
    weights = [network.embed_tokens.weight, network.lm_head.weight]
    optimizer = torch.optim.AdamW(weights, lr=WORD_RATE, weight_decay=DECAY, fused=True)
    device = network.lm_head.weight.device
    numbers = itertools.count(1_000_000)
    batches = (batch for number in numbers for batch in course.batches(number, WORD_BATCH, SPOKEN))
    for step, (ids, targets) in zip(range(WORD_STEPS), batches):
        for group in optimizer.param_groups:
            group["lr"] = WORD_RATE * _pace(step, WORD_STEPS)
        with torch.autocast(device.type, torch.bfloat16):
            loss = loss_of(network, network.mean_of_words(ids.to(device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 250 == 0:
            print(f"words: step {step} of {WORD_STEPS} loss {loss.item():.3f}", flush=True)


@torch.no_grad()
def share_right(network: Network, course: Course, questions: list[Question], device: str) -> float:
    """How often the likeliest first token is the wanted answer's."""
    network.eval()
    right = 0
    for question in questions:
        ids = torch.tensor([course.tokenizer.encode(prompt(question)).ids], device=device)
        right += int(network.logits(network(ids)[:, -1]).argmax()) == course.topics[question.answer]
    network.train()
    return right / len(questions)


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    work: Path = options.work
    work.mkdir(parents=True, exist_ok=True)
    wordings = Wordings("training" if options.hold_back else "all")
    if not (work / "tokenizer.json").exists():
        make_tokenizer(itertools.islice(Wordings().questions(0), 150_000)).save(str(work / "tokenizer.json"))
    tokenizer = Tokenizer.from_file(str(work / "tokenizer.json"))
    save_tokenizer(tokenizer, work)
    course = Course(tokenizer, wordings)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = Network(Shape(tokenizer.get_vocab_size())).to(device)
    if not (work / "checkpoint.pt").exists():
        learn_words(network, course)
    average = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    words = [network.embed_tokens.weight, network.lm_head.weight]
    others = list(network.layers.parameters())
    groups = [{"params": words, "share": WORD_SHARE}, {"params": others, "share": 1.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY, fused=True)
    step = 0
    if (work / "checkpoint.pt").exists():
        state = torch.load(work / "checkpoint.pt", map_location=device, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        average, step = state["average"], state["step"]
    unread = list(itertools.islice(Wordings("held back").questions(1), 1000)) if options.hold_back else []

    def keep() -> None:
        state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "average": average, "step": step}
        torch.save(state, work / "checkpoint.part")
        (work / "checkpoint.part").replace(work / "checkpoint.pt")
        guide_network.save(average, network.shape, tokenizer.token_to_id(END), course.pad, work)

    if step == 0:
        keep()
        if unread:
            print(f"held back after the words {share_right(network, course, unread, device):.3f}", flush=True)
    print(f"{sum(weight.numel() for weight in network.parameters()):,} parameters, step {step} of {options.steps}")
    started = time.monotonic()
    for ids, targets in _from(course, step):
        if step >= options.steps or time.monotonic() - started > options.minutes * 60:
            break
        for group in optimizer.param_groups:
            group["lr"] = RATE * group["share"] * _pace(step, options.steps)
        with torch.autocast(device, torch.bfloat16):
            loss = loss_of(network, network(ids.to(device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        step += 1
        kept = min(KEPT, step / (step + 10))
        for name, weight in network.named_parameters():
            average[name].lerp_(weight.detach(), 1 - kept)
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.3f} {time.monotonic() - started:.0f} s", flush=True)
        if step % 200 == 0:
            keep()
            if unread:
                current = {name: weight.detach().clone() for name, weight in network.named_parameters()}
                network.load_state_dict(average)
                print(f"step {step} held back {share_right(network, course, unread, device):.3f}", flush=True)
                network.load_state_dict(current)
    keep()
    if step < options.steps:
        raise SystemExit(f"Stopped at step {step} of {options.steps}. Run the same command again to go on.")


def _from(course: Course, step: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for number in itertools.count(step // POOL):
        batches = course.batches(number + 1, BATCH, SPOKEN)
        yield from batches[step % POOL :] if number == step // POOL else batches


def _pace(step: int, steps: int) -> float:
    """A short rise, a long plain, and in the last part a fall to a fiftieth."""
    return min(1.0, (step + 1) / WARM_UP, 0.02 + 0.98 * (steps - step) / (steps * LAST_PART))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("build/guide"), help="where checkpoints and the result lie")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=85, help="stop after so long; run again to go on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hold-back", action="store_true", help="keep every eighth wording out and report on them")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
