"""The ranks of one machine meet in shared memory. Protocol: ``spec/meeting.toml``, docs/protocols/meeting.md."""

from __future__ import annotations

from fdcomm.meeting.handle import Meeting, MeetingStatistics

__all__ = ("Meeting", "MeetingStatistics")
