"""Trains the Guide from nothing: `python packaging/starters/train_guide.py --minutes 85`.

First come the words: the network begins as one that takes the mean of all words, so that which words ask for which
answer, and which sentence of an answer follows which, is learned for a fraction of the work. Then the whole network
learns on, gently, what a mean cannot tell. It resumes from the last checkpoint, so that the work can be done in pieces;
the same seeds on the same machine give the same Guide however it is cut, but for rounding.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import guide_network
import torch
import torch.nn.functional as F
from guide_network import Network, Shape
from guide_text import END, PAD, make_tokenizer, prompt, save_tokenizer, sentences, topic
from splitting import Splitter
from tokenizers import Tokenizer
from wordings import ANSWERS, Question, Wordings

BATCH = 64
SPOKEN = 8  # one question of so many is answered in full
LAST_PART = 0.5  # in which the learning rate falls
WORDS, WHOLE = 1, 2  # the parts
WORD_BATCH, WORD_RATE = 256, 5e-3  # of the first part, on the mean of words
POOL = 16  # batches made together, so that questions of like length share one
RATE, WORD_SHARE, WARM_UP, DECAY = 3e-4, 0.5, 50, 0.02  # words, learned already, move less
KEPT = 0.998  # of the slowly moving average that is shipped
SPLIT_WORDS = 0.045  # how often a merge of the tokenizer is left out, so that unknown words are read from their parts


class Course:
    """Batches of (ids, the positions whose next token is learned), made from the step's number alone."""

    def __init__(self, tokenizer: Tokenizer, wordings: Wordings) -> None:
        self.tokenizer, self.wordings = tokenizer, wordings
        self.splitter = Splitter(tokenizer, SPLIT_WORDS)
        self.pad = tokenizer.token_to_id(PAD)
        self.said = {
            name: [*map(tokenizer.token_to_id, sentences(name)), tokenizer.token_to_id(END)] for name in ANSWERS
        }
        self.topics = {name: tokenizer.token_to_id(topic(name)) for name in ANSWERS}

    def batches(self, number: int, batch: int, spoken: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """POOL batches of questions; one question of `spoken` is answered in full, the others by the answer's name."""
        questions = list(itertools.islice(self.wordings.questions(number), batch * POOL))
        random = Random(number)
        read = [self.splitter.encode(prompt(question), random) for question in questions]
        rows = []
        for at, (question, ids) in enumerate(zip(questions, read, strict=True)):
            said = self.said[question.answer] if at % spoken == 0 else []
            row = [*ids, self.topics[question.answer], *said]
            rows.append((row, [-100] * (len(ids) - 1) + row[len(ids) :]))
        rows.sort(key=lambda row: len(row[0]))
        batches = [self._padded(rows[at : at + batch]) for at in range(0, len(rows), batch)]
        random.shuffle(batches)
        return batches

    def stream(self, first: int, batch: int, step: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Batches without end, from those of this step on."""
        for number in itertools.count(step // POOL):
            batches = self.batches(first + number, batch, SPOKEN)
            yield from batches[step % POOL :] if number == step // POOL else batches

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


class Training:
    """One Guide that is being trained, and what of it lies on disk: the newest checkpoint, and the model itself."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.work = options, options.work
        self.work.mkdir(parents=True, exist_ok=True)
        self.ends = time.monotonic() + options.minutes * 60
        tokenizer = self._tokenizer()
        self.course = Course(tokenizer, Wordings("training" if options.hold_back else "all"))
        self.end = tokenizer.token_to_id(END)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(options.seed)
        self.network = Network(Shape(tokenizer.get_vocab_size())).to(self.device)
        self.average = {name: weight.detach().clone() for name, weight in self.network.named_parameters()}
        self.part, self.step = WORDS, 0
        self.optimizer = self._optimizer()
        self._go_on()
        asked = Wordings("held back").questions(1) if options.hold_back else ()
        self.unread = list(itertools.islice(asked, 1000))

    def _tokenizer(self) -> Tokenizer:
        file = self.work / "tokenizer.json"
        if not file.exists():
            print("making the tokenizer", flush=True)
            make_tokenizer(itertools.islice(Wordings().questions(0), self.options.questions)).save(str(file))
        tokenizer = Tokenizer.from_file(str(file))
        save_tokenizer(tokenizer, self.work)
        return tokenizer

    def _optimizer(self) -> torch.optim.AdamW:
        words = [self.network.embed_tokens.weight, self.network.lm_head.weight]
        if self.part == WORDS:
            return torch.optim.AdamW(words, lr=WORD_RATE, weight_decay=DECAY, fused=True)
        others = list(self.network.layers.parameters())
        groups = [{"params": words, "share": WORD_SHARE}, {"params": others, "share": 1.0}]
        return torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY, fused=True)

    def _go_on(self) -> None:
        file = self.work / "checkpoint.pt"
        if not file.exists():
            return
        state = torch.load(file, map_location=self.device, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.part, self.step, self.average = state["part"], state["step"], state["average"]
        self.optimizer = self._optimizer()
        self.optimizer.load_state_dict(state["optimizer"])
        print(f"going on from step {self.step} of part {self.part}", flush=True)

    def keep(self) -> None:
        state = {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average,
            "part": self.part,
            "step": self.step,
        }
        torch.save(state, self.work / "checkpoint.part")
        (self.work / "checkpoint.part").replace(self.work / "checkpoint.pt")

    def run(self) -> None:
        """Both parts, to the end or until the time is over."""
        if self.part == WORDS:
            self._learn(self.options.word_steps, WORD_BATCH, 1_000_000, self._learn_words)
            self.part, self.step = WHOLE, 0
            self.average = {name: weight.detach().clone() for name, weight in self.network.named_parameters()}
            self.optimizer = self._optimizer()
            self.keep()
            self._report("after the words")
        self._learn(self.options.steps, BATCH, 1, self._learn_all)
        guide_network.save(self.average, self.network.shape, self.end, self.course.pad, self.work)

    def _learn(self, steps: int, batch: int, first: int, learn: Callable[[torch.Tensor, torch.Tensor], float]) -> None:
        began, before, kept = time.monotonic(), self.step, time.monotonic()
        for ids, targets in itertools.islice(self.course.stream(first, batch, self.step), steps - self.step):
            if time.monotonic() > self.ends:
                self.keep()
                raise SystemExit(f"{self._place(steps)}: the time is over. Run the same command again to go on.")
            # a step's own seed: what a network leaves out is then the same however the training is cut
            torch.manual_seed(self.options.seed * 1_000_000 + first + self.step)
            for group in self.optimizer.param_groups:
                group["lr"] = (WORD_RATE if self.part == WORDS else RATE * group["share"]) * _pace(self.step, steps)
            loss = learn(ids.to(self.device), targets.to(self.device))
            self.step += 1
            if self.step % self.options.report_every == 0 or self.step == steps:
                spent = time.monotonic() - began
                left = spent / (self.step - before) * (steps - self.step)
                print(f"{self._place(steps)}, loss {loss:.3f}, {spent:.0f} s, about {left:.0f} s left", flush=True)
            if time.monotonic() - kept > self.options.keep_every:
                self.keep()
                kept = time.monotonic()
                self._report(self._place(steps))

    def _place(self, steps: int) -> str:
        return f"part {self.part} of {WHOLE}, step {self.step} of {steps}"

    def _learn_words(self, ids: torch.Tensor, targets: torch.Tensor) -> float:
        with torch.autocast(self.device, torch.bfloat16):
            loss = loss_of(self.network, self.network.mean_of_words(ids), targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def _learn_all(self, ids: torch.Tensor, targets: torch.Tensor) -> float:
        with torch.autocast(self.device, torch.bfloat16):
            loss = loss_of(self.network, self.network(ids), targets)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        kept = min(KEPT, (self.step + 1) / (self.step + 11))
        for name, weight in self.network.named_parameters():
            self.average[name].lerp_(weight.detach(), 1 - kept)
        return loss.item()

    def _report(self, when: str) -> None:
        """How the average does on wordings that were kept out, where some were."""
        if not self.unread:
            return
        current = {name: weight.detach().clone() for name, weight in self.network.named_parameters()}
        self.network.load_state_dict(self.average if self.part == WHOLE else current)
        print(f"{when}: held back {share_right(self.network, self.course, self.unread, self.device):.3f}", flush=True)
        self.network.load_state_dict(current)


def _pace(step: int, steps: int) -> float:
    """A short rise, a long plain, and in the last part a fall to a fiftieth."""
    return min(1.0, (step + 1) / WARM_UP, 0.02 + 0.98 * (steps - step) / (steps * LAST_PART))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("build/guide"), help="where checkpoints and the result lie")
    parser.add_argument("--word-steps", type=int, default=2000, help="of the first part")
    parser.add_argument("--steps", type=int, default=200, help="of the second part")
    parser.add_argument("--questions", type=int, default=150_000, help="that the tokenizer is made from")
    parser.add_argument("--minutes", type=float, default=85, help="stop after so long; run again to go on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report-every", type=int, default=50, help="steps from one line of progress to the next")
    parser.add_argument("--keep-every", type=float, default=60, help="seconds from one checkpoint to the next")
    parser.add_argument("--hold-back", action="store_true", help="keep every eighth wording out and report on them")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    Training(options).run()


if __name__ == "__main__":
    main()
