/*
 * An agent of the Agent Client Protocol, built with its own SDK: it repeats its input. `PARROT_NOTES` is a file for
 * its notes, `PARROT_HOME` a folder for its sessions; without the folder it cannot load a session.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream } from '@agentclientprotocol/sdk';

const { PARROT_NOTES: notes = '', PARROT_HOME: home } = process.env;
const note = (line) => appendFileSync(notes, `${line}\n`);
const fileOf = (id) => path.join(home, `${id}.json`);
const heard = new Map();
const cancelled = new Map();
note(`started ${process.pid}`);

const update = (client, sessionId, said) => client.notify(methods.client.session.update, { sessionId, update: said });
const say = (client, sessionId, text) =>
  update(client, sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

async function prompt({ params, client }) {
  const { sessionId } = params;
  const text = params.prompt.map((part) => part.text).join('');
  const before = heard.get(sessionId) ?? [];
  heard.set(sessionId, [...before, text]);
  if (home !== undefined) writeFileSync(fileOf(sessionId), JSON.stringify(heard.get(sessionId)));
  if (text.endsWith('die')) process.exit(7);
  if (text.includes('refuse')) return { stopReason: 'refusal' };
  if (text.includes('wait')) return wait(sessionId, text);
  if (text.includes('write')) return write(client, sessionId);
  if (text.includes('recall')) await say(client, sessionId, `I know: ${before.join(' | ')}`);
  else for (const word of text.split(/(?<= )/)) await say(client, sessionId, word);
  return { stopReason: 'end_turn' };
}

async function wait(sessionId, text) {
  note('waiting');
  const stopped = new Promise((resolve) => cancelled.set(sessionId, resolve));
  if (text.includes('stubborn')) await new Promise(() => undefined);
  await stopped;
  note('cancelled');
  return { stopReason: 'cancelled' };
}

async function write(client, sessionId) {
  const toolCall = { toolCallId: 't1', title: 'Write a.txt', kind: 'edit', status: 'pending' };
  await update(client, sessionId, { sessionUpdate: 'tool_call', ...toolCall });
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall,
    options: [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  });
  const chosen = outcome.outcome === 'selected' ? outcome.optionId : 'nobody';
  const status = chosen === 'yes' ? 'completed' : 'failed';
  await update(client, sessionId, { sessionUpdate: 'tool_call_update', toolCallId: 't1', status });
  await say(client, sessionId, `Leave: ${chosen}.`);
  return { stopReason: 'end_turn' };
}

agent({ name: 'parrot' })
  .onRequest(methods.agent.initialize, ({ params }) => ({
    protocolVersion: params.protocolVersion,
    agentCapabilities: { loadSession: home !== undefined },
  }))
  .onRequest(methods.agent.session.new, () => {
    const sessionId = `p${process.pid}`;
    note(`new ${sessionId}`);
    return { sessionId };
  })
  .onRequest(methods.agent.session.load, ({ params }) => {
    const file = fileOf(params.sessionId);
    if (!existsSync(file)) throw new Error('no such session');
    heard.set(params.sessionId, JSON.parse(readFileSync(file, 'utf8')));
    note(`loaded ${params.sessionId}`);
    return {};
  })
  .onRequest(methods.agent.session.prompt, prompt)
  .onNotification(methods.agent.session.cancel, ({ params }) => cancelled.get(params.sessionId)?.())
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
