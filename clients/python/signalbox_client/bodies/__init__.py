"""The JSON of requests and responses: only names and types, nothing is converted."""

from signalbox_client.bodies.conversations import Conversation as Conversation
from signalbox_client.bodies.conversations import ConversationHead as ConversationHead
from signalbox_client.bodies.conversations import ConversationInfo as ConversationInfo
from signalbox_client.bodies.conversations import ConversationSummary as ConversationSummary
from signalbox_client.bodies.conversations import Node as Node
from signalbox_client.bodies.files import File as File
from signalbox_client.bodies.files import FileVersion as FileVersion
from signalbox_client.bodies.question import Question as Question
from signalbox_client.bodies.runs import RunFilter as RunFilter
from signalbox_client.bodies.runs import RunStatsList as RunStatsList
from signalbox_client.bodies.runs import RunSummary as RunSummary
from signalbox_client.bodies.runs import RunTrace as RunTrace
from signalbox_client.bodies.runs import StatsBucket as StatsBucket
from signalbox_client.bodies.runs import StatsPercentiles as StatsPercentiles
from signalbox_client.bodies.runs import StoppedRun as StoppedRun
from signalbox_client.bodies.saves import Save as Save
from signalbox_client.bodies.saves import SaveSummary as SaveSummary
from signalbox_client.bodies.spend import Spend as Spend
from signalbox_client.bodies.spend import SpendRow as SpendRow
from signalbox_client.bodies.spend import SpendTotal as SpendTotal
