// The Node twin of run_python.py. The lines are a module of their own, which exports what they declare.
import { pathToFileURL } from 'node:url'

const [lines, program, model, ...abilities] = process.argv.slice(2)
const said = []
const log = console.log
console.log = (...words) => said.push(words.join(' '))
let names = {}, problem
try {
  names = await import(pathToFileURL(lines))
} catch (error) {
  problem = error
}
const functions = await import(pathToFileURL(program))
for (const ability of abilities) {
  const told = { ability }
  try {
    if (problem) throw problem
    told.value = ability === 'connects' ? said.join('\n').trim() : await functions[ability]({ ...names, model })
  } catch (error) {
    told.error = `${error.name}: ${error.message}`
    told.trace = `${error.stack}`.slice(-1500)
  }
  log(JSON.stringify(told))
}
process.exit(0)
