// The OpenAI Agents SDK's realtime session over a websocket. Arguments and output as those of openai_sdk.mjs.
import { readFileSync } from 'node:fs';
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import { z } from 'zod';

const [url, recording] = process.argv.slice(2);
const file = readFileSync(recording);
const question = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
const told = {};
const weather = tool({
  name: 'weather', description: 'The weather', parameters: z.object({}),
  execute: async () => { told.call = 'weather'; return '-4'; },
});
const agent = new RealtimeAgent({ name: 'Guide', instructions: 'Be brief.', tools: [weather], voice: 'marin' });
const session = new RealtimeSession(agent, { transport: 'websocket', model: 'gpt-realtime' });
let sound = 0, heard = null, words = '', responses = 0;
const waiting = [];

session.on('error', ({ error }) => { console.error(JSON.stringify(error)); process.exit(1); });
session.on('audio', (chunk) => { sound += chunk.data.byteLength; check('audio', chunk); });
session.on('audio_interrupted', () => { told.stopped = true; });
session.on('transport_event', (event) => {
  if (event.type === 'conversation.item.input_audio_transcription.completed') heard = event.transcript;
  if (event.type === 'response.created') words = '';
  if (event.type === 'response.output_audio_transcript.delta') words += event.delta;
  if (event.type === 'response.done') { responses += 1; check('done', event.response); }
});

function check(kind, value) {
  const at = waiting.findIndex((one) => one.kind === kind);
  if (at >= 0) waiting.splice(at, 1)[0].done(value);
}

const next = (kind) => new Promise((done) => waiting.push({ kind, done }));

await session.connect({ apiKey: 'none', url: `${url.replace('http', 'ws')}/v1/realtime?model=gpt-realtime` });
let done = next('done');
for (let at = 0; at < question.byteLength; at += 4800) session.sendAudio(question.slice(at, at + 4800));
await done;
told.spoken = { heard, words, sound };

const first = next('audio');
done = next('done');
session.sendMessage('Something long');
await first;
let cut = done;
done = next('done');
session.sendAudio(question);
cut = await cut;
told.interrupted = [cut.status, cut.status_details.reason];
await done;
told.after = words;

const called = next('done');
const result = next('done');
session.sendMessage('The weather?');
await called;
await result;
told.result = words;

done = next('done');
session.sendMessage('And you?');
await done;
told.text = words;
told.history = session.history.filter((item) => item.type === 'message').length;
console.log(JSON.stringify(told));
session.close();
process.exit(0);
