// The openai package, chat completions.
import { z } from 'zod'
import { zodResponseFormat } from 'openai/helpers/zod'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const Weather = z.object({ city: z.string(), degrees: z.number().int() })

export async function models({ client }) {
  return (await client.models.list()).data.map((model) => model.id)
}

export async function two_turns({ client, model }) {
  const messages = [], turns = []
  for (const content of ['Hello', 'And now?']) {
    messages.push({ role: 'user', content })
    const pieces = []
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
      if (chunk.choices[0]?.delta.content) pieces.push(chunk.choices[0].delta.content)
    turns.push(pieces)
    messages.push({ role: 'assistant', content: pieces.join('') })
  }
  return turns
}

export async function tool({ client, model }) {
  const ran = []
  const get_weather = { name: 'get_weather', parameters, parse: JSON.parse, function: (given) => (ran.push(given), 'Sunny') }
  const messages = [{ role: 'user', content: 'What is the weather in Paris?' }]
  const runner = client.chat.completions.runTools({ model, messages, tools: [{ type: 'function', function: get_weather }] })
  return { ran, text: await runner.finalContent() }
}

export async function structured({ client, model }) {
  const messages = [{ role: 'user', content: 'What is the weather in Paris?' }]
  const reply = await client.chat.completions.parse({ model, messages, response_format: zodResponseFormat(Weather, 'weather') })
  return reply.choices[0].message.parsed
}

export async function too_long({ client }) {
  const messages = [{ role: 'user', content: 'Hello '.repeat(5000) }]
  return client.chat.completions.create({ model: 'small', messages }).then(String, (error) => `${error.code}: ${error.message}`)
}
