// The openai package in a realtime session. Arguments: the server's URL, and a question as PCM at 24 kHz. Prints what happened.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';

const [url, recording] = process.argv.slice(2);
const question = readFileSync(recording);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
const realtime = await connected();
const told = {};

async function connected() {
  // it asks for TLS always; where the server has none, the connection is made by hand
  const options = { createConnection: ({ port, host }) => connect(port, host) };
  const socket = new OpenAIRealtimeWS({ model: 'gpt-realtime', options }, client);
  await new Promise((done, failed) => { socket.socket.on('open', done); socket.socket.on('error', failed); });
  socket.on('error', (error) => { console.error(error.message); process.exit(1); });
  return socket;
}

function speak() {
  for (let at = 0; at < question.length; at += 4800)
    realtime.send({ type: 'input_audio_buffer.append', audio: question.subarray(at, at + 4800).toString('base64') });
}

function ask(text) {
  const content = [{ type: 'input_text', text }];
  realtime.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  realtime.send({ type: 'response.create' });
}

function answered(kind = 'response.done') {
  return new Promise((done) => {
    const seen = { heard: null, words: '', sound: 0 };
    const look = (event) => {
      if (event.type === 'conversation.item.input_audio_transcription.completed') seen.heard = event.transcript;
      if (event.type === 'response.output_audio_transcript.delta') seen.words += event.delta;
      if (event.type === 'response.output_audio.delta') seen.sound += Buffer.from(event.delta, 'base64').length;
      if (event.type === kind) { realtime.off('event', look); done({ ...seen, event }); }
    };
    realtime.on('event', look);
  });
}

let waiting = answered();
realtime.send({ type: 'session.update', session: {
  type: 'realtime', instructions: 'Be brief.', output_modalities: ['audio'], tracing: 'auto',
  audio: {
    input: { transcription: { model: 'whisper-1' }, turn_detection: { type: 'server_vad', idle_timeout_ms: null } },
    output: { voice: 'alloy' },
  },
  tools: [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }],
} });
speak();
const { heard, words, sound } = await waiting;
told.spoken = { heard, words, sound };

waiting = answered('response.output_audio.delta');
ask('Something long');
const first = await waiting;
waiting = answered();
speak();
const { response } = (await waiting).event;
told.interrupted = [response.status, response.status_details.reason];
waiting = answered();
realtime.send({ type: 'conversation.item.truncate', item_id: first.event.item_id, content_index: 0, audio_end_ms: 1 });
told.after = (await waiting).words;

waiting = answered();
ask('The weather?');
const [call] = (await waiting).event.response.output;
told.call = call.name;
waiting = answered();
realtime.send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: call.call_id, output: '-4' } });
realtime.send({ type: 'response.create' });
told.result = (await waiting).words;

waiting = answered();
realtime.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
ask('In words');
told.text = (await waiting).event.response.output[0].content[0].text;

console.log(JSON.stringify(told));
realtime.close();
