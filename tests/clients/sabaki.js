// Drives an engine with Sabaki's own GTP client, as Sabaki does: sabaki.js PATH-OF-@sabaki/gtp COMMAND ARGUMENT...
// Prints one JSON document of what was heard; the test judges it.
const [library, command, ...args] = process.argv.slice(2)
const {Controller} = require(library)

async function main() {
  const engine = new Controller(command, args)
  const heard = {stderr: []}
  engine.on('stderr', ({content}) => heard.stderr.push(content))
  engine.start()
  const send = async (name, ...words) => (await engine.sendCommand({name, args: words})).content

  for (const name of ['name', 'version', 'protocol_version', 'list_commands']) heard[name] = await send(name)
  await send('boardsize', '5')
  await send('komi', '7.5')
  await send('clear_board')
  heard.genmove = await send('genmove', 'B')

  // Analysis goes on until Sabaki sends protocol_version, when it has seen enough.
  for (const name of ['kata-analyze', 'lz-analyze']) {
    const lines = []
    let interruption = null
    const analysis = engine.sendCommand({name, args: ['W', '5', ...(name === 'kata-analyze' ? ['ownership', 'true'] : [])]}, ({line}) => {
      lines.push(line)
      if (lines.length === 4) {
        const start = Date.now()
        interruption = engine.sendCommand({name: 'protocol_version'}).then(response => [response.content, start])
      }
    })
    const response = await analysis
    const [answer, start] = await interruption
    heard[name] = {lines, error: response.error, answer, milliseconds: Date.now() - start}
  }
  heard.genmove_analyze = (await engine.sendCommand({name: 'kata-genmove_analyze', args: ['W', '5']})).content
  heard.unknown = (await engine.sendCommand({name: 'frobnicate'})).error
  heard.illegal = (await engine.sendCommand({name: 'play', args: ['B', 'Z30']})).error
  await engine.stop()
  console.log(JSON.stringify(heard))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
