"""One query of the Python agent SDK. It prints what comes, without what differs from run to run,
and how often it was called back."""
import asyncio
import os
import sys

from claude_agent_sdk import (ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, PermissionResultAllow, create_sdk_mcp_server,
                              query, tool)

mode, prompt = sys.argv[1:]
calls = []


async def hook(given, use, context):
    calls.append(f"{given['hook_event_name']} {given.get('prompt', '')}")
    return {}


async def may(name, given, context):
    calls.append(f"may use {name}")
    return PermissionResultAllow()


@tool("add", "adds", {"a": float})
async def add(given):
    return {"content": [{"type": "text", "text": "3"}]}


def show(m):
    parts = [getattr(c, "text", None) or getattr(c, "name", None) or getattr(c, "content", None) for c in getattr(m, "content", None) or []]
    print(type(m).__name__, getattr(m, "subtype", ""), parts, getattr(m, "result", ""), getattr(m, "num_turns", ""), getattr(m, "is_error", ""))


async def main():
    options = dict(cli_path=os.environ["CLI"], cwd=os.getcwd(), stderr=lambda line: print("stderr", line))
    if mode == "callbacks":
        names = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
        options.update(hooks={name: [HookMatcher(hooks=[hook])] for name in names}, can_use_tool=may,
                       mcp_servers={"adder": create_sdk_mcp_server("adder", "1", [add])})
    if mode == "partial":
        options.update(include_partial_messages=True)
    if mode == "string":
        async for m in query(prompt=prompt, options=ClaudeAgentOptions(**options)):
            show(m)
    else:
        async with ClaudeSDKClient(options=ClaudeAgentOptions(**options)) as client:
            await client.query(prompt)
            async for m in client.receive_response():
                show(m)
    print("\n".join(calls))


asyncio.run(main())
