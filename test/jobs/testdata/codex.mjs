// One turn of a new thread with codex's TypeScript SDK. It prints what comes, without what differs from run
// to run.
const { Codex } = await import(`${process.env.SDK}/node_modules/@openai/codex-sdk/dist/index.js`)

const thread = new Codex({ codexPathOverride: process.env.CLI }).startThread({ sandboxMode: 'danger-full-access' })
const { events } = await thread.runStreamed(process.argv[2])
for await (const { type, item, usage } of events) {
  console.log(type, item?.type ?? '', item?.text ?? item?.aggregated_output ?? '', item?.status ?? '', usage ? Object.keys(usage).join() : '')
}
