// The AI SDK: the same calls through each of its providers.
import { generateText, Output, stepCountIs, streamText, tool as define } from 'ai'
import { z } from 'zod'

const Weather = z.object({ city: z.string(), degrees: z.number().int() })
const prompt = 'What is the weather in Paris?'

export async function two_turns({ provider, model }) {
  const messages = [], turns = []
  for (const content of ['Hello', 'And now?']) {
    messages.push({ role: 'user', content })
    const pieces = []
    for await (const piece of streamText({ model: provider(model), messages }).textStream) pieces.push(piece)
    turns.push(pieces)
    messages.push({ role: 'assistant', content: pieces.join('') })
  }
  return turns
}

export async function tool({ provider, model }) {
  const ran = []
  const get_weather = define({
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string() }),
    execute: async (given) => (ran.push(given), 'Sunny'),
  })
  const { text } = await generateText({ model: provider(model), prompt, tools: { get_weather }, stopWhen: stepCountIs(3) })
  return { ran, text }
}

export async function structured({ provider, model }) {
  return (await generateText({ model: provider(model), prompt, output: Output.object({ schema: Weather }) })).output
}

export async function too_long({ provider }) {
  const asked = { model: provider('small'), prompt: 'Hello '.repeat(5000), maxRetries: 0 }
  return generateText(asked).then(String, (error) => `${error.statusCode}: ${error.message}`)
}
