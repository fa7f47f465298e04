/** A server that answers like a model, in steps that a test states. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

/** An answer: a text in pieces, and calls; or an error with a status. */
export interface Step {
  readonly status?: number;
  readonly text?: string | readonly string[];
  readonly calls?: readonly { readonly tool: string; readonly args: unknown }[];
}

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Serves the steps, one for each request; the last one again and again. Returns the arguments that lead to it. */
export async function modelServer(...steps: readonly Step[]) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => {
      body += bytes;
    });
    request.on('end', () => {
      const step = steps[Math.min(bodies.length, steps.length - 1)] ?? {};
      bodies.push(body);
      answer(response, step, bodies.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo;
  const at = ['--model', 'stated', '--base-url', `http://127.0.0.1:${port}/v1`] as const;
  return { at, bodies };
}

function answer(response: ServerResponse, { status = 200, text = '', calls = [] }: Step, number: number): void {
  if (status !== 200) {
    response.writeHead(status, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ error: { message: text } }));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, finish: string | null = null): void => {
    const chunk = {
      id: `c${number}`,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  for (const piece of typeof text === 'string' ? [text] : text)
    if (piece !== '') send({ role: 'assistant', content: piece });
  calls.forEach(({ tool, args }, index) => {
    const called = { name: tool, arguments: JSON.stringify(args) };
    send({ tool_calls: [{ index, id: `call_${number}_${index}`, type: 'function', function: called }] });
  });
  send({}, calls.length > 0 ? 'tool_calls' : 'stop');
  const usage = { prompt_tokens: 1_200, completion_tokens: 40, total_tokens: 1_240 };
  response.write(`data: ${JSON.stringify({ id: `c${number}`, choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
}
