// The ollama package.
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const format = { type: 'object', properties: { city: { type: 'string' }, degrees: { type: 'integer' } }, required: ['city', 'degrees'] }
const question = [{ role: 'user', content: 'What is the weather in Paris?' }]

export async function models({ client }) {
  return (await client.list()).models.map((model) => model.name)
}

export async function two_turns({ client, model }) {
  const messages = [], turns = []
  for (const content of ['Hello', 'And now?']) {
    messages.push({ role: 'user', content })
    const pieces = []
    for await (const part of await client.chat({ model, messages, stream: true }))
      if (part.message.content) pieces.push(part.message.content)
    turns.push(pieces)
    messages.push({ role: 'assistant', content: pieces.join('') })
  }
  return turns
}

export async function tool({ client, model }) {
  const messages = [...question], ran = []
  for (let turn = 0; turn < 3; turn++) {
    const tools = [{ type: 'function', function: { name: 'get_weather', description: 'The weather in a city', parameters } }]
    const { message } = await client.chat({ model, messages, tools })
    messages.push(message)
    if (!message.tool_calls?.length) return { ran, text: message.content }
    for (const call of message.tool_calls) {
      ran.push(call.function.arguments)
      messages.push({ role: 'tool', content: 'Sunny', tool_name: call.function.name })
    }
  }
}

export async function structured({ client, model }) {
  return JSON.parse((await client.chat({ model, messages: question, format })).message.content)
}

export async function too_long({ client }) {
  const messages = [{ role: 'user', content: 'Hello '.repeat(5000) }]
  return client.chat({ model: 'small', messages }).then(String, (error) => `${error.status_code}: ${error.message}`)
}
