// A client of the Agent Client Protocol: two prompts in one session, which a second process of vibe-acp then
// loads. It prints what comes, without what differs from run to run: a replayed session may go on during the
// next prompt.
import { spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
const { client, methods, ndJsonStream } = await import(`${process.env.SDK}/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js`)

const args = process.argv.slice(2)
const cwd = process.cwd()
let session
let lines = []
const show = (...words) => lines.push(words.join(' '))

const app = client({ name: 'client' })
  .onNotification(methods.client.session.update, ({ params: { update } }) =>
    show('update', update.sessionUpdate, update.content?.text ?? update.content?.[0]?.content?.text ?? update.title ?? '', update.status ?? ''))
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    show('permission', params.options.map(option => option.kind).join())
    return { outcome: { outcome: 'selected', optionId: params.options.find(option => option.kind === 'allow_once').optionId } }
  })

async function run (work) {
  const agent = spawn(process.env.CLI, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise(resolve => agent.on('close', (code, signal) => resolve(code ?? signal)))
  await app.connectWith(ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async peer => {
    const { protocolVersion, agentInfo, agentCapabilities } = await peer.request(methods.agent.initialize,
      { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: 'client', version: '1' } })
    show('initialized', JSON.stringify({ protocolVersion, agentInfo, agentCapabilities }))
    await work(peer)
  })
  agent.stdin.end()
  show('ended', await ended)
  console.log(lines.sort().join('\n'))
  lines = []
}

async function ask (peer, text) {
  const { stopReason } = await peer.request(methods.agent.session.prompt, { sessionId: session, prompt: [{ type: 'text', text }] })
  show('stopped', stopReason)
}

await run(async peer => {
  session = (await peer.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId
  await ask(peer, 'hi remember number 456')
  await ask(peer, 'RUNTOOL please')
})
await run(async peer => {
  if (args.includes('--acp')) { // gemini does not always find its session, with or without the shim
    session = (await peer.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId
  } else {
    await peer.request(methods.agent.session.load, { sessionId: session, cwd, mcpServers: [] })
  }
  await ask(peer, 'what number')
})
