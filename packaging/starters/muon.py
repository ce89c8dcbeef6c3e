"""Muon: momentum whose matrices are made orthogonal before each step; fewer steps to the same loss than Adam's."""

from __future__ import annotations

import torch
from torch import Tensor, nn

STEEPNESS = (3.4445, -4.7750, 2.0315)  # of the quintic that pulls singular values towards one


def orthogonal(matrices: Tensor, rounds: int = 5) -> Tensor:
    """[n, a, b] with a <= b: each matrix with its singular values brought near one."""
    a, b, c = STEEPNESS
    x = matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(rounds):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x


class Muon(torch.optim.Optimizer):
    """For the matrices between layers only. Steps are as long as Adam's, so that one learning rate serves both."""

    def __init__(self, parameters: list[nn.Parameter], lr: float, momentum: float = 0.95, decay: float = 0.02) -> None:
        super().__init__(parameters, dict(lr=lr, momentum=momentum, decay=decay))

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            alike: dict[tuple[int, int], list[nn.Parameter]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike.setdefault((min(parameter.shape), max(parameter.shape)), []).append(parameter)
            for (small, large), parameters in alike.items():
                updates = []
                for parameter in parameters:
                    state = self.state[parameter]
                    if not state:
                        state["momentum"] = torch.zeros_like(parameter)
                    state["momentum"].lerp_(parameter.grad, 1 - group["momentum"])
                    update = parameter.grad.lerp(state["momentum"], group["momentum"])
                    updates.append(update if parameter.shape[0] == small else update.mT)
                stacked = orthogonal(torch.stack(updates))
                length = 0.2 * large**0.5 * group["lr"]
                for parameter, update in zip(parameters, stacked, strict=True):
                    parameter.mul_(1 - group["lr"] * group["decay"])
                    parameter.add_(update if parameter.shape[0] == small else update.mT, alpha=-length)
