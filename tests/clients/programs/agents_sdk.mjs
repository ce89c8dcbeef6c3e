// OpenAI's Agents SDK: its runner, a tool, and an output type.
import { Agent, run, tool as define } from '@openai/agents'
import { z } from 'zod'

const Weather = z.object({ city: z.string(), degrees: z.number().int() })
const question = 'What is the weather in Paris?'

export async function two_turns({ agent }) {
  const turns = []
  let given = []
  for (const content of ['Hello', 'And now?']) {
    const stream = await run(agent, [...given, { role: 'user', content }], { stream: true })
    const pieces = []
    for await (const piece of stream.toTextStream()) pieces.push(piece)
    turns.push(pieces)
    given = stream.history
  }
  return turns
}

export async function tool({ agent }) {
  const ran = []
  const get_weather = define({
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: z.object({ city: z.string() }),
    execute: async (given) => (ran.push(given), 'Sunny'),
  })
  return { ran, text: (await run(agent.clone({ tools: [get_weather] }), question)).finalOutput }
}

export async function structured({ agent }) {
  return (await run(agent.clone({ outputType: Weather }), question)).finalOutput
}

export async function too_long({ agent }) {
  return run(agent.clone({ model: 'small' }), 'Hello '.repeat(5000)).then(String, (error) => `${error.code}: ${error.message}`)
}
