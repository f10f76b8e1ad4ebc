// One query of the TypeScript agent SDK, in the directory SDK. It prints what comes, without what
// differs from run to run, and how often it was called back.
const { query, createSdkMcpServer, tool } = await import(`${process.env.SDK}/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs`)
const { z } = await import(`${process.env.SDK}/node_modules/zod/index.js`)

const [mode, prompt] = process.argv.slice(2)
const calls = []
// Old versions report the path of the CLI.
const stderr = text => { if (!text.startsWith('Spawning Claude Code')) console.log('stderr', text) }
const options = { pathToClaudeCodeExecutable: process.env.CLI, cwd: process.cwd(), stderr }
if (mode === 'callbacks') {
  const names = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop']
  options.hooks = Object.fromEntries(names.map(name => [name, [{ hooks: [async input => { calls.push(`${name} ${input.prompt ?? ''}`); return {} }] }]]))
  options.canUseTool = async (name, input) => { calls.push(`may use ${name}`); return { behavior: 'allow', updatedInput: input } }
  const add = tool('add', 'adds', { a: z.number() }, async () => ({ content: [{ type: 'text', text: '3' }] }))
  options.mcpServers = { adder: createSdkMcpServer({ name: 'adder', version: '1', tools: [add] }) }
}
if (mode === 'partial') options.includePartialMessages = true

async function * messages () {
  yield { type: 'user', session_id: '', parent_tool_use_id: null, message: { role: 'user', content: prompt } }
}
for await (const m of query({ prompt: mode === 'callbacks' ? messages() : prompt, options })) {
  const parts = (m.message?.content ?? []).map?.(c => c.text ?? c.name ?? c.content) ?? m.message.content
  console.log(m.type, m.subtype ?? '', m.event?.type ?? '', JSON.stringify(parts), m.result ?? '', m.num_turns ?? '', m.is_error ?? '', Object.keys(m).sort().join())
}
console.log(calls.join('\n'))
