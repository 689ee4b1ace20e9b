"""The rooms of the explorer, in the order of a visit."""

from __future__ import annotations

from posenc.explorer.rooms import (
    bias,
    bugs,
    clock,
    compare,
    fingerprint,
    order,
    precision,
    rotation,
    similarity,
    stretch,
    table,
    waves,
)
from posenc.explorer.rooms.room import Picture, Room

__all__ = ["ROOMS", "Picture", "Room"]

ROOMS: dict[str, Room] = {
    "waves": waves.ROOM,
    "table": table.ROOM,
    "clock": clock.ROOM,
    "similarity": similarity.ROOM,
    "rotation": rotation.ROOM,
    "bias": bias.ROOM,
    "order": order.ROOM,
    "stretch": stretch.ROOM,
    "compare": compare.ROOM,
    "precision": precision.ROOM,
    "bugs": bugs.ROOM,
    "fingerprint": fingerprint.ROOM,
}
"""Every room by its place in the address."""
