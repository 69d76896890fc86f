"""Alibaba's Qwen models."""

from signalbox.profiles.profile import Profile

PROFILE = Profile(family="qwen", vendors=("qwen", "alibaba"), names=("qwen", "qwq"))
