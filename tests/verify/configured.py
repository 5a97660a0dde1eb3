"""From a configuration file of TLC to the model under its constants, where both have them in one order."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from models import (
    blocks_shipped,
    buffers_shipped,
    calls_shipped,
    drain_shipped,
    fmq_shipped,
    layerwise_open,
    layerwise_pair,
    layerwise_shipped,
    mailbox_shipped,
    meeting,
    meeting_state,
    readiness_shipped,
    rearrange_shipped,
    ring,
    ring_bias,
    ring_last,
    ring_last_state,
    ring_overflow,
    ring_place,
    ring_wait,
    signal_shipped,
    transfer_shipped,
    update_shipped,
    wave_shipped,
    word,
    word_counter,
    word_lock,
    word_sequence,
    worker_loop,
)
from models.blocks import Blocks
from models.blocks import Config as BlocksConfig
from models.fmq import Config as FmqConfig
from models.fmq import Fmq
from models.kernel import Model
from models.layerwise import Config as LayerwiseConfig
from models.layerwise import Layerwise
from models.link import Config as LinkConfig
from models.link import Link
from models.mailbox import Config as MailboxConfig
from models.mailbox import Mailbox
from models.readiness import Config as ReadinessConfig
from models.readiness import Readiness
from models.rearrange import Config as RearrangeConfig
from models.rearrange import Rearrange
from models.signal import Config as SignalConfig
from models.signal import Signal
from models.transfer import Config as TransferConfig
from models.transfer import Transfer
from tla.manifest import Entry
from tla.values import parse

__all__ = ("MODELS", "configured")

_CONSTANT = re.compile(r"^ +(\w+) = (.+)$", re.MULTILINE)

# TLA+ module -> the type of its constants, and the model.
MODELS: dict[str, tuple[Any, Any]] = {
    "WorkerLoop": (worker_loop.Config, worker_loop.WorkerLoop),
    "BuffersShipped": (buffers_shipped.Config, buffers_shipped.BuffersShipped),
    "CallsShipped": (calls_shipped.Config, calls_shipped.CallsShipped),
    "DrainShipped": (drain_shipped.Config, drain_shipped.DrainShipped),
    "UpdateShipped": (update_shipped.Config, update_shipped.UpdateShipped),
    "WaveShipped": (wave_shipped.Config, wave_shipped.WaveShipped),
    "MCReadiness": (ReadinessConfig, Readiness),
    "MCReadinessShipped": (readiness_shipped.Config, readiness_shipped.ReadinessShipped),
    "MCRearrange": (RearrangeConfig, Rearrange),
    "MCRearrangeShipped": (rearrange_shipped.Config, rearrange_shipped.RearrangeShipped),
    "MCLayerwise": (LayerwiseConfig, Layerwise),
    "LayerPair": (layerwise_pair.Config, layerwise_pair.LayerPair),
    "LayerOpen": (layerwise_open.Config, layerwise_open.LayerOpen),
    "MCBlocks": (BlocksConfig, Blocks),
    "BlocksShipped": (blocks_shipped.Config, blocks_shipped.BlocksShipped),
    "MCFmq": (FmqConfig, Fmq),
    "FmqShipped": (fmq_shipped.Config, fmq_shipped.FmqShipped),
    "LayerwiseShipped": (layerwise_shipped.Config, layerwise_shipped.LayerwiseShipped),
    "MCLink": (LinkConfig, Link),
    "MCMailbox": (MailboxConfig, Mailbox),
    "MCMailboxShipped": (mailbox_shipped.Config, mailbox_shipped.MailboxShipped),
    "MCSignal": (SignalConfig, Signal),
    "MCSignalShipped": (signal_shipped.Config, signal_shipped.SignalShipped),
    "MCTransfer": (TransferConfig, Transfer),
    "MCTransferShipped": (transfer_shipped.Config, transfer_shipped.TransferShipped),
    "Word": (word.Config, word.Word),
    "MCRing": (ring.Config, ring.Ring),
    "RingWait": (ring_wait.Config, ring_wait.RingWait),
    "RingPlace": (ring_place.Config, ring_place.RingPlace),
    "RingBias": (ring_bias.Config, ring_bias.RingBias),
    "RingLast": (ring_last_state.Config, ring_last.RingLast),
    "RingOverflow": (ring_overflow.Config, ring_overflow.RingOverflow),
    "Meeting": (meeting_state.Config, meeting.Meeting),
    "Counter": (word_counter.Config, word_counter.Counter),
    "Sequence": (word_sequence.Config, word_sequence.Sequence),
    "IpcLock": (word_lock.Config, word_lock.IpcLock),
}


def configured(entry: Entry) -> Model[Any]:
    """Return the model of the entry.

    Raises:
        ValueError: The model has other constants than the configuration.
    """
    config_type, make = MODELS[entry.module]
    text = entry.config_file.read_text(encoding="utf-8")
    constants = {name: parse(value) for name, value in _CONSTANT.findall(text)}
    names = list(config_type().constants())
    if set(names) != set(constants):
        raise ValueError(f"{entry.name}: the model has {names}, and the configuration {list(constants)}")
    own = [item.name for item in fields(config_type) if item.name != "guards"]
    values = {field: constants[name] for field, name in zip(own, names, strict=False)}
    if len(own) < len(names):
        guards = names[len(own) :]
        values["guards"] = type(config_type().guards)(*(constants[name] for name in guards))
    config = config_type(**values)
    if config.constants() != constants:
        raise ValueError(f"{entry.name}: the model has {config.constants()}, and the configuration {constants}")
    model: Model[Any] = make(config)
    return model
