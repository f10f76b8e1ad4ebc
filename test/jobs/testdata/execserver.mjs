// codex with an exec server, which runs its commands.
import { spawn } from 'node:child_process'
const { Codex } = await import(`${process.env.SDK}/node_modules/@openai/codex-sdk/dist/index.js`)

const server = spawn(process.env.CLI, ['exec-server', '--listen', 'ws://127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] })
const url = await new Promise(resolve => server.stdout.once('data', data => resolve(data.toString().trim())))
const codex = new Codex({ codexPathOverride: process.env.CLI, env: { ...process.env, CODEX_EXEC_SERVER_URL: url } })
const { items } = await codex.startThread({ sandboxMode: 'danger-full-access' }).run('RUNTOOL please')
console.log(items)
server.kill()
console.log(await new Promise(resolve => server.on('close', (code, signal) => resolve(code ?? signal))))
