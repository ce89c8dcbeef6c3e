"""Which matrices of a model lie on the GPU and which beside the CPU, where one GPU cannot hold all: planned from headers alone.

Experts go first: a token reads few of them, so a CPU keeps up best there. Then whole layers' matrices. Attention, norms and sequences'
memory stay on the GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import BadRequest
from engine.weights.view import Survey

ROOM = 0.85  # of what may be used, for weights: conversations need the rest


@dataclass(frozen=True)
class CpuOffload:
    """Matrices of the first `layers` layers and experts of the first `experts` ones lie beside the CPU."""

    layers: int
    experts: int
    of: int  # layers in all
    device_bytes: int
    host_bytes: int

    def sentence(self, name: str, device: str, gigabytes: Callable[[int], str]) -> str:
        """For people, before it is loaded."""
        parts = [f"{self.layers} of {self.of} layers"] if self.layers else []
        if self.experts > self.layers:
            parts.append(f"the experts of {self.experts - self.layers} layers")
        return (
            f"{name}: {gigabytes(self.device_bytes)} of weights on {device}, {gigabytes(self.host_bytes)} beside the CPU "
            f"({' and '.join(parts)}). Replies are slower than on the GPU alone."
        )


def plan(
    found: Survey, nbytes: int, room: int | None, gpu_layers: int | None = None, cpu_moe: int | None = None
) -> CpuOffload | None:
    """None where all lies on the device. `nbytes`: the weights once loaded; `room`: what the device has for them, None: enough.
    `gpu_layers` stay on the GPU, and the experts of `cpu_moe` layers do not; None: as many as fit."""
    count = max(found.layer_bytes, default=-1) + 1
    experts_known = max(found.layer_expert_bytes, default=-1) + 1
    if (gpu_layers is not None and gpu_layers < 0) or (cpu_moe is not None and cpu_moe < 0):
        raise BadRequest("--gpu-layers and --cpu-moe are numbers of layers, 0 or more.", "gpu_layers")
    if cpu_moe and not experts_known:
        raise BadRequest("This model has no experts that could lie beside the CPU.", "cpu_moe")

    def placed(layers: int, experts: int) -> CpuOffload:
        host = sum(found.layer_bytes.get(i, 0) for i in range(layers))
        host += sum(found.layer_expert_bytes.get(i, 0) for i in range(layers, experts))
        host = host * nbytes // max(1, found.weight_bytes)
        return CpuOffload(layers, experts, count, nbytes - host, host)

    layers = 0 if gpu_layers is None else max(0, count - gpu_layers)
    experts = 0 if cpu_moe is None else min(cpu_moe, count)
    if gpu_layers is None and cpu_moe is None and room is not None:
        while experts < experts_known and placed(layers, experts).device_bytes > room:
            experts += 1
        while layers < count and placed(layers, experts).device_bytes > room:
            layers += 1
    made = placed(layers, experts)
    return made if made.host_bytes else None
