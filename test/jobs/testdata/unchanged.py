"""A caller of the Python agent SDK that knows nothing of reprise."""
import asyncio
import sys

from claude_agent_sdk import ResultMessage, query


async def main():
    async for message in query(prompt=sys.argv[1]):
        if isinstance(message, ResultMessage):
            print(message.result, message.num_turns, message.is_error)


asyncio.run(main())
