// A conversation of three turns through the AI SDK's provider for claude, a new model object for each.
const { generateText } = await import(`${process.env.SDK}/node_modules/ai/dist/index.mjs`)
const { createClaudeCode } = await import(`${process.env.SDK}/node_modules/ai-sdk-provider-claude-code/dist/index.js`)

// The provider hands only some variables on.
const settings = { pathToClaudeCodeExecutable: process.env.CLI, cwd: process.cwd(), env: { ...process.env } }
const messages = []
for (const turn of process.argv.slice(2)) {
  messages.push({ role: 'user', content: turn })
  const { text } = await generateText({ model: createClaudeCode({ defaultSettings: settings })('sonnet'), messages })
  messages.push({ role: 'assistant', content: text })
  console.log(text)
}
