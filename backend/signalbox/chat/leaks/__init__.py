"""Finds tool calls that a provider leaked into the answer's text, while it streams (quirk A11)."""

from signalbox.chat.leaks.filter import LeakFilter as LeakFilter
from signalbox.chat.leaks.filter import ParsedText as ParsedText
from signalbox.chat.leaks.filter import parse_leak as parse_leak
