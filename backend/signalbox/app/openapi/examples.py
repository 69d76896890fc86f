"""Examples of the OpenAPI document: requests by the name of their schema, responses likewise, and a stream."""

from typing import Any

_RUN = {
    "run_id": "85fa395f316fede103d7763f27725079",
    "status": "complete",
    "code": None,
    "model": "openai/sim",
    "loop": "v2",
    "flag": {"variant": "v2", "reason": "STATIC"},
    "started": 1795227719.6120903,
    "ended": 1795227719.6216757,
    "steps": 2,
    "cost": 0.0013525,
    "cost_estimated": False,
    "settled_at": None,
    "conversation_id": None,
    "parent_id": None,
    "protocol": "v1.1",
    "simulated": True,
}
_CALL = {
    "id": "Ju6N7RNKI",
    "name": "calculate",
    "arguments": '{"expression":"17 * 23"}',
    "category": "utility",
    "visibility": "hidden",
    "step": 1,
}

_STATS = {
    "since": 1795824000.0,
    "until": 1795847400.0,
    "bucket_seconds": 3600,
    "all_owners": False,
    "buckets": [
        {
            "start": 1795842000,
            "loop": "v2",
            "runs": 42,
            "statuses": {"complete": 38, "error": 2, "interrupted": 1, "running": 1},
            "at_limit": 1,
            "first_token_ms": {"p50": 412, "p95": 1830},
            "duration_ms": {"p50": 2210, "p95": 9400},
            "cost": 0.0831,
        }
    ],
}

REQUESTS: dict[str, dict[str, Any]] = {
    "AssistantRequest": {
        "a message": {
            "threadId": "shop-1",
            "model": "openai/sim",
            "commands": [
                {
                    "type": "add-message",
                    "message": {"role": "user", "parts": [{"type": "text", "text": "Hello!"}]},
                    "parentId": None,
                    "sourceId": None,
                }
            ],
        },
    },
    "ResumeThread": {"a thread": {"threadId": "shop-1"}},
    "ResumeRun": {"a run": {"runId": "7f3c2b1a4d5e6f708192a3b4c5d6e7f8"}},
    "ChatRequest": {
        "one question": {"model": "openai/sim", "prompt": "What is the tool loop of Signalbox?"},
        "a conversation with reasoning": {
            "model": "anthropic/sim",
            "messages": [
                {"role": "system", "content": "Answer in one sentence."},
                {"role": "user", "content": "What is 17 % of 2,340, and what time is it in Tokyo?"},
            ],
            "reasoning": {"effort": "low"},
            "tools": ["calculate", "get_current_time"],
        },
    },
    "VariantsRequest": {
        "two models, one of them twice": {
            "model": "openai/sim",
            "prompt": "What is 17 % of 2,340?",
            "conversation_id": "chat-1",
            "variants": [{}, {"model": "anthropic/sim", "reasoning": {"effort": "low"}}, {"temperature": 0.2}],
        },
    },
    "AiSdkRequest": {
        "a message": {
            "id": "chat-1",
            "model": "openai/sim",
            "messages": [
                {"id": "msg-1", "role": "user", "parts": [{"type": "text", "text": "What is 17 % of 2,340?"}]}
            ],
            "trigger": "submit-message",
        },
    },
    "RunAgentInput": {
        "a run": {
            "threadId": "thread-1",
            "runId": "run-1",
            "state": {},
            "messages": [{"id": "msg-1", "role": "user", "content": "What is 17 % of 2,340?"}],
            "tools": [],
            "context": [],
            "forwardedProps": {"model": "openai/sim", "tools": ["calculate"]},
        },
    },
    "ChatCompletionRequest": {
        "a stream": {
            "model": "openai/sim",
            "messages": [{"role": "user", "content": "What is 17 % of 2,340?"}],
            "stream": True,
        },
        "a tool of the client beside ours": {
            "model": "openai/sim",
            "messages": [{"role": "user", "content": "What do 7 screws cost?"}],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "price",
                        "description": "The price of an item.",
                        "parameters": {"type": "object", "properties": {"item": {"type": "string"}}},
                    },
                },
                {"type": "signalbox:calculate"},
            ],
        },
    },
    "CreateConversation": {"a title": {"title": "Time zones"}, "the client's own id": {"id": "chat-1"}},
    "UpdateConversation": {"a title": {"title": "Time zones"}, "another branch": {"leaf_id": "4f0c1c6fd0e54c1d9d1f"}},
    "RestoreVersion": {"an earlier version": {"version": 1}},
    "CreateSave": {"a run": {"run_id": "85fa395f316fede103d7763f27725079", "title": "Tokyo", "data": {"tab": "tools"}}},
    "CreateToken": {
        "with a budget": {"name": "Ada", "budget_day": 5, "budget_month": 50, "rate_limit": "60/minute"},
        "in a group": {"name": "Night batch", "group": "batch", "expires": 1798761600},
    },
    "UpdateToken": {"another budget": {"budget_day": 10}, "all models": {"models": None}},
    "RotateToken": {"at once": {}, "an hour later": {"grace_seconds": 3600}},
    "PutGroup": {"a team": {"budget_month": 500, "max_runs": 20, "models": ["anthropic/*", "openai/gpt-*"]}},
    "CreateWebhook": {"ends of runs": {"url": "https://example.org/hooks/signalbox", "events": ["run.ended"]}},
    "UpdateWebhook": {"pause": {"active": False}},
    "RotateWebhook": {"an hour of both": {"grace_seconds": 3600}},
    "StartRollout": {"the default plan": {}, "only report": {"mode": "observe"}},
    "FlagOverride": {"back to legacy": {"state": "off"}, "a share": {"state": "percent", "percent": 10}},
}

RESPONSES: dict[str, Any] = {
    "StartedVariants": {
        "conversation_id": "chat-1",
        "parent_id": "4f0c1c6fd0e54c1d9d1f0a4e4e3f8a11",
        "variants": [
            {"number": 1, "model": "openai/sim", "run_id": "85fa395f316fede103d7763f27725079"},
            {"number": 2, "model": "anthropic/sim", "run_id": "7f3c2b1a4d5e6f708192a3b4c5d6e7f8"},
            {"number": 3, "model": "openai/sim", "run_id": "0a1b2c3d4e5f60718293a4b5c6d7e8f9"},
        ],
    },
    "ChatAnswer": {
        "v": "1.1",
        "run_id": "85fa395f316fede103d7763f27725079",
        "status": "complete",
        "text": "17 × 23 = **391**",
        "reasoning": "The user wants a product.",
        "calls": [
            {
                **_CALL,
                "result": {"success": True, "result": {"expression": "17 * 23", "result": 391}},
            }
        ],
        "sources": [],
        "images": [],
        "warnings": [],
        "usage": {"input": 546, "output": 67, "reasoning": 53},
        "cost": 0.0013525,
        "requested_model": "openai/sim",
        "model": "openai/sim",
        "provider": "OpenAI",
        "loop": "v2",
        "flag": {"variant": "v2", "reason": "STATIC"},
        "steps": 2,
        "simulated": True,
        "duration_ms": 9,
        "first_token_ms": 5,
    },
    "RunStatsList": _STATS,
    "RunList": {"runs": [_RUN], "next": None, "all_owners": False},
    "RunTrace": {
        **_RUN,
        "watchers": 0,
        "request": {"model": "openai/sim", "tools": ["calculate"], "messages": [{"role": "user", "characters": 16}]},
        "attempts": [
            {
                "step": 1,
                "number": 1,
                "final": False,
                "model": "openai/sim",
                "tools": ["calculate"],
                "tool_choice": None,
                "messages": 1,
                "params": [],
                "changes": [],
                "started": 1795227719.6123354,
                "first_part": 1795227719.6170058,
                "ended": 1795227719.6184313,
                "generation_id": "gen-1795227719-g5WHjS3F2hiDZij23xGV",
                "served_model": "openai/sim",
                "provider": "OpenAI",
                "usage": {
                    "input": 164,
                    "output": 34,
                    "reasoning": 25,
                    "cached": 0,
                    "cost": 0.000545,
                    "cache_written": 0,
                },
                "error": None,
                "code": None,
                "streamed": True,
                "settled": False,
                "cancelled": None,
                "stop_ends_billing": True,
            }
        ],
        "tools": [
            {
                **_CALL,
                "announced": 1795227719.617,
                "started": 1795227719.618,
                "ended": 1795227719.618,
                "success": True,
                "code": None,
            }
        ],
        "warnings": [],
        "events": 52,
        "done": {"type": "done", "done": True, "status": "complete", "steps": 2},
    },
    "StoppedRun": {"run_id": "85fa395f316fede103d7763f27725079", "stopped": True, "status": "cancelled"},
    "ConversationList": {
        "conversations": [
            {
                "id": "chat-1",
                "title": "What is the time in Tokyo?",
                "created": 1795227719.6,
                "updated": 1795227801.2,
                "messages": 4,
                "cost": 0.0027,
                "paid": 0,
                "model": "anthropic/sim",
                "is_running": False,
            }
        ],
        "next": None,
    },
    "SaveList": {
        "saves": [
            {
                "id": "0f7dd0a6b3c94b1f8a1c7be1d7f4a6e2",
                "title": "Tokyo",
                "created": 1795227801.25,
                "run_id": "85fa395f316fede103d7763f27725079",
                "model": "openai/sim",
                "status": "complete",
            }
        ],
        "next": None,
    },
    "ModelList": {
        "models": [
            {
                "id": "openai/sim",
                "name": "OpenAI: Simulated",
                "context_length": 400000,
                "max_output": 16384,
                "created": 1763683200,
                "pricing": {"prompt": "0.00000125", "completion": "0.00001"},
                "supported_parameters": ["include_reasoning", "max_tokens", "tools"],
                "badges": ["images", "json", "reasoning", "tools"],
                "hidden": False,
            }
        ],
        "fetched": 1795227719.2,
        "default": None,
    },
    "ToolList": {
        "tools": [
            {
                "name": "get_current_time",
                "title": "Clock",
                "summary": "Tells the date and time anywhere in the world.",
                "description": "Tell the current date, weekday and time in a time zone, with its offset from UTC.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "timezone": {
                            "type": "string",
                            "description": "IANA time zone name such as Europe/Berlin or America/New_York. "
                            "Default: UTC.",
                        }
                    },
                    "required": [],
                },
                "category": "utility",
                "visibility": "hidden",
                "eager": True,
                "timeout": 5.0,
                "shows_table": False,
                "on_request": False,
                "needs_conversation": False,
                "available": True,
                "unavailable": None,
            }
        ],
        "limits": {"max_steps": 8, "max_searches": 6},
    },
    "Readiness": {
        "status": "ready",
        "checks": {"data_folder": True, "database": True, "upstream": True, "accepting": True},
        "simulated": True,
        "loop": "v2",
    },
    "UpstreamList": {
        "upstreams": [
            {
                "name": "openrouter",
                "dialect": "openrouter-chat",
                "host": "openrouter.ai",
                "state": "open",
                "consecutive_failures": 5,
                "last_error": "UPSTREAM_OVERLOADED",
                "since": 1795227719.6,
            }
        ]
    },
    "FeatureFlag": {
        "key": "tool_loop_v2",
        "state": "percent",
        "percent": 10,
        "environment": None,
        "effective": "10 % of the conversations use the V2 loop, the others the legacy loop.",
        "sticky": "conversation",
    },
}

STREAM = (
    'data: {"type":"content","content":"The ","v":"1.1","run_id":"4f…","loop":"v2"}\nid: 4f…:1\n\n'
    'data: {"type":"done","done":true,"status":"complete","steps":1,"ts":1790000000000}\nid: 4f…:2\n\n'
)
