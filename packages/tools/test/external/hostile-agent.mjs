/*
 * A hostile program that speaks the Agent Client Protocol: `hostile-agent.mjs HOW`. It starts normally and attacks as
 * its argument says when it is asked for a turn.
 */
import { createInterface } from 'node:readline';

const how = process.argv[2];
const MIB = 1024 * 1024;
const write = (text) => new Promise((resolve) => process.stdout.write(text, () => resolve()));
const say = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tell = (update) => say({ method: 'session/update', params: { sessionId: 's', update } });
const text = (words) => tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } });

const HARM = {
  'a line without an end': async () => {
    for (;;) await write('x'.repeat(MIB));
  },
  'a message of endless text': async () => {
    await write('{"jsonrpc":"2.0","method":"session/update","params":"');
    for (;;) await write('y'.repeat(MIB));
  },
  'a message of many little things': async () => {
    await write(`{"params":[${'{},'.repeat(5 * MIB)}{}]}\n`);
    await new Promise(() => undefined);
  },
  'a message that nests': async () => {
    await write(`{"params":${'['.repeat(MIB)}${']'.repeat(MIB)}}\n`);
    await new Promise(() => undefined);
  },
  'text without an end': async () => {
    for (;;) await text('z'.repeat(MIB));
  },
  'words without an end': async () => {
    const word = `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '' } } } })}\n`;
    for (;;) await write(word.repeat(4_096));
  },
  'requests without an end': async () => {
    process.stdin.pause(); // the answers are never read
    let id = 1_000;
    for (;;) {
      let lines = '';
      for (let n = 0; n < 4_096; n++) lines += `{"jsonrpc":"2.0","id":${id++},"method":"fs/read_text_file"}\n`;
      await write(lines);
    }
  },
  'calls of long names': async () => {
    for (let n = 0; n < 70; n++) {
      const title = `${n}`.padEnd(MIB, 't');
      await tell({ sessionUpdate: 'tool_call', toolCallId: `${n}`, title, status: title });
      await tell({ sessionUpdate: 'tool_call', toolCallId: title, title: 'x' });
    }
  },
  'what is no message': async () => {
    const lines = [
      '[]',
      '5',
      'null',
      '"x"',
      '{}',
      '{"id":null}',
      '{"id":2,"method":5}',
      '{"method":{"a":1}}',
      '{"id":{},"method":"m"}',
    ];
    lines.push(
      '{"id":"3","error":null}',
      '{"id":99,"error":null}',
      '{"id":99,"error":7}',
      '{"id":99,"error":{"message":{"toString":1}}}',
    );
    lines.push(
      '{"id":7,"method":"session/request_permission","params":{"toolCall":null}}',
      '\u0000\ufffd',
      '{"method":"session/update"}',
    );
    lines.push(
      '{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\\ud800"}}}}',
    );
    for (const line of lines) await write(`${line}\n`);
    await write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
  },
  'an answer that is an error of nothing': async (id) => {
    await say({ id, error: null, result: { stopReason: 'end_turn' } });
  },
  'an error that is no error': async (id) => {
    await say({ id, error: { message: { toString: 1 }, data: 'd'.repeat(4 * MIB) } });
  },
  'nothing special': async () => text('hello'),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') await say({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === 'session/new') await say({ id, result: { sessionId: 's' } });
  else if (method === 'session/prompt') {
    void HARM[how](id).then(() => say({ id, result: { stopReason: 'end_turn' } }));
  }
}
