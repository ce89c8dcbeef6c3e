// The anthropic package.
const input_schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
}
const question = [{ role: 'user', content: 'What is the weather in Paris?' }]

export async function models({ client }) {
  return (await client.models.list()).data.map((model) => model.id)
}

export async function two_turns({ client, model }) {
  const messages = [], turns = []
  for (const content of ['Hello', 'And now?']) {
    messages.push({ role: 'user', content })
    const pieces = []
    const stream = client.messages.stream({ model, max_tokens: 200, messages }).on('text', (text) => pieces.push(text))
    messages.push({ role: 'assistant', content: (await stream.finalMessage()).content })
    turns.push(pieces)
  }
  return turns
}

export async function tool({ client, model }) {
  const messages = [...question], ran = []
  for (let turn = 0; turn < 3; turn++) {
    const tools = [{ name: 'get_weather', input_schema }]
    const { content } = await client.messages.create({ model, max_tokens: 200, messages, tools })
    messages.push({ role: 'assistant', content })
    const calls = content.filter((block) => block.type === 'tool_use')
    if (!calls.length) return { ran, text: content[0].text }
    ran.push(...calls.map((call) => call.input))
    messages.push({ role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Sunny' })) })
  }
}

export async function structured({ client, model }) {
  const output_config = { format: { type: 'json_schema', schema } }
  const reply = await client.messages.create({ model, max_tokens: 200, messages: question, output_config })
  return JSON.parse(reply.content[0].text)
}

export async function too_long({ client }) {
  const messages = [{ role: 'user', content: 'Hello '.repeat(5000) }]
  return client.messages.create({ model: 'small', max_tokens: 20, messages }).then(String, (error) => `${error.type}: ${error.message}`)
}
