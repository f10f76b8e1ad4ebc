"""One turn of a new thread with codex's Python SDK. It prints what comes, without what differs from run to
run."""
import asyncio
import os
import sys

from openai_codex_sdk import Codex


async def main():
    thread = Codex({"codex_path_override": os.environ["CLI"]}).start_thread({"sandbox_mode": "danger-full-access"})
    async for event in (await thread.run_streamed(sys.argv[1])).events:
        item = getattr(event, "item", None)
        print(event.type, getattr(item, "type", ""), getattr(item, "text", None) or getattr(item, "aggregated_output", ""), getattr(item, "status", ""))


asyncio.run(main())
