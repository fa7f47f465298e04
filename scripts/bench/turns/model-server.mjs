/*
 * A model server on the chat protocol, in a process of its own so that its time is nobody's: it asks for the tool when
 * the last message is the user's, and answers with seeded text, which never repeats, when it is the tool's.
 *
 *   node scripts/bench/turns/model-server.mjs SEED
 */
import { createServer } from 'node:http';
import { seededWords } from './seeded-words.mjs';

const words = seededWords(Number(process.argv[2] ?? 1));
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const last = JSON.parse(body).messages.at(-1);
  const message = last.role === 'tool' ? { content: words(1_000) } : { content: null, tool_calls: [call()] };
  const finish_reason = last.role === 'tool' ? 'stop' : 'tool_calls';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (value) =>
    response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', ...value })}\n\n`);
  chunk({ choices: [{ index: 0, delta: { role: 'assistant', ...indexed(message) } }] });
  chunk({ choices: [{ index: 0, delta: {}, finish_reason }] });
  chunk({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } });
  response.end('data: [DONE]\n\n');
});
server.keepAliveTimeout = 600_000; // a connection is not closed while its client verifies
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

function call() {
  const id = `call_${words(12).replaceAll(' ', '')}`;
  return { id, type: 'function', function: { name: 'read', arguments: JSON.stringify({ chapter: words(20) }) } };
}

function indexed(message) {
  return { ...message, tool_calls: message.tool_calls?.map((one, index) => ({ index, ...one })) };
}
