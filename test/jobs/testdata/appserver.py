"""A client of codex's app server: two turns in a thread, then another process resumes it."""
import os

from openai_codex import Codex, CodexConfig

config = CodexConfig(codex_bin=os.environ["CLI"], cwd=os.getcwd())


def show(turn):
    print(turn.status, turn.final_response, [type(item.root).__name__ for item in turn.items], turn.usage)


with Codex(config) as codex:
    thread = codex.thread_start()
    for prompt in ("hi remember number 456", "RUNTOOL please"):
        show(thread.run(prompt))
with Codex(config) as codex:
    show(codex.thread_resume(thread.id).run("what number"))
