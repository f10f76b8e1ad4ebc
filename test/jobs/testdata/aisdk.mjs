// A conversation of three turns through the AI SDK's provider for claude or codex, a new model object for each.
import { existsSync } from 'node:fs'

const modules = `${process.env.SDK}/node_modules`
const module = `${modules}/ai/dist/index.mjs` // ai 7 has it under another name
const { generateText } = await import(existsSync(module) ? module : module.replace(/mjs$/, 'js'))

let model
if (existsSync(`${modules}/ai-sdk-provider-claude-code`)) {
  const { createClaudeCode } = await import(`${modules}/ai-sdk-provider-claude-code/dist/index.js`)
  // The provider hands only some variables on.
  const settings = { pathToClaudeCodeExecutable: process.env.CLI, cwd: process.cwd(), env: { ...process.env } }
  model = () => createClaudeCode({ defaultSettings: settings })('sonnet')
} else {
  const { createCodexCli } = await import(`${modules}/ai-sdk-provider-codex-cli/dist/index.js`)
  model = () => createCodexCli({ defaultSettings: { codexPath: process.env.CLI, cwd: process.cwd() } })('gpt-5.1-codex')
}
const messages = []
for (const turn of process.argv.slice(2)) {
  messages.push({ role: 'user', content: turn })
  const { text } = await generateText({ model: model(), messages })
  messages.push({ role: 'assistant', content: text })
  console.log(text)
}
