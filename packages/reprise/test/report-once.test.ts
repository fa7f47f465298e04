/** What a person reads on standard error when a world has no `onError`: a real server, a real port. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { reportOnce } from '../src/history.js';
import { defineAgent, openWorld } from '../src/index.js';
import { memory } from '../src/kernel.js';
import { openAiCompatible } from '../src/providers.js';

const KEY = 'sk-a-key-that-must-not-be-shown';
const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Be brief.' });

let server: Server | undefined;

afterEach(() => {
  vi.restoreAllMocks();
  server?.close();
  server = undefined;
});

/** A model server that refuses every request with these words. */
async function refusing(status: number, message: string): Promise<string> {
  server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message } }));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Runs a few conversations to their ends. @returns what stood on standard error */
async function standardError(baseUrl: string, onError?: () => void): Promise<string> {
  const written: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  const main = openAiCompatible({ baseUrl, apiKey: KEY, model: 'some-model' });
  await using world = await openWorld({
    ...{ store: memory(), models: { main }, agents: [clerk] },
    ...(onError === undefined ? {} : { onError }),
  });
  for (const name of ['one', 'two']) await (await world.session(name, clerk).send('Hi')).result();
  vi.restoreAllMocks();
  return written.join('');
}

describe('a world without onError', () => {
  it('a refused key is said once, with the provider’s words, the code and what to do, and without the key', async () => {
    const text = await standardError(await refusing(401, `Incorrect API key provided: ${KEY}`));
    expect(text).toMatch(
      /^reprise: llm\.generate@\d of reprise\.llm failed in .*one: Incorrect API key provided: .* \(127\.0\.0\.1, status 401\) \[provider_error_terminal\/auth\]\. Check the API key of the model, and the address that it is sent to\. Pass onError to openWorld to receive every error\.\n$/,
    );
    expect(text).not.toContain(KEY);
  });

  it('words of a server that could control a terminal or forge a second line are shown in one harmless line', async () => {
    const text = await standardError(await refusing(400, 'no\u001b[2J\nreprise: all is well\u202e'));
    expect(text.split('\n')).toHaveLength(2);
    for (const active of ['\u001b', '\u202e']) expect(text).not.toContain(active);
  });

  it('a server that does not answer is named with its address', async () => {
    const { port } = await new Promise<AddressInfo>((resolve) => {
      const free = createServer().listen(0, '127.0.0.1', () => {
        const address = free.address() as AddressInfo;
        free.close(() => resolve(address));
      });
    });
    const text = await standardError(`http://127.0.0.1:${port}/v1`);
    expect(text).toContain(`ECONNREFUSED 127.0.0.1:${port}`);
    expect(text).toContain('Check the address of the model, and that a server answers there.');
    expect(text.trim().split('\n')).toHaveLength(1);
  });

  it('a world with onError writes nothing', async () => {
    const failed = vi.fn();
    expect(await standardError(await refusing(401, 'no'), failed)).toBe('');
    expect(failed).toHaveBeenCalledTimes(2);
  });
});

describe('a loop that prints a streamed answer', () => {
  const streamed = async (options: { readonly key: 'wrong' | 'cancelled' }) => {
    const main = openAiCompatible({ baseUrl: await refusing(401, 'Incorrect API key'), apiKey: KEY, model: 'm' });
    await using world = await openWorld({
      ...{ store: memory(), models: { main }, agents: [clerk] },
      onError: () => undefined,
    });
    const session = world.session('one', clerk);
    const run = await session.send('Hi');
    if (options.key === 'cancelled') await run.cancel();
    const types: string[] = [];
    try {
      for await (const { type } of run.stream()) types.push(type);
      return { types, thrown: undefined };
    } catch (thrown) {
      return { types, thrown: thrown as Error };
    }
  };

  it('a loop over run.stream() throws behind the last event when the run failed, in the words of the provider, with its server and what to do [SES-36]', async () => {
    const { types, thrown } = await streamed({ key: 'wrong' });
    expect(types.at(-1)).toBe('lifecycle');
    expect(thrown).toMatchObject({ code: 'run_failed' });
    expect(thrown?.message).toContain(
      'ended as Failed: Incorrect API key (127.0.0.1, status 401) [provider_error_terminal/auth]. Check the API key',
    );
    expect(thrown?.message).not.toContain(KEY);
  });

  it('a loop over run.stream() ends without an error when the run was cancelled', async () => {
    const { types, thrown } = await streamed({ key: 'cancelled' });
    expect({ last: types.at(-1), thrown }).toEqual({ last: 'lifecycle', thrown: undefined });
  });
});

describe('reportOnce', () => {
  it('errors of another source, name or code have lines of their own, and long words are cut', () => {
    const lines: string[] = [];
    const report = reportOnce((line) => lines.push(line));
    const cell: [string, string] = ['shop/Order@1', 'a'];
    for (let times = 0; times < 3; times++) {
      report(new Error('x'.repeat(10_000)), { source: 'cell', cell, event: 'shop/Paid@1', code: 'threw' });
      report('no error at all', { source: 'cell', cell, event: 'shop/Sent@1', code: 'threw' });
      report(new Error('the disk'), { source: 'world', code: 'store_failed' });
    }
    expect(lines).toHaveLength(3);
    expect(lines[0]?.length).toBeLessThan(700);
    expect(lines[2]).toBe(
      'the world failed: the disk [store_failed]. Check that the disk of the world can be written, then open the world again.',
    );
  });
});
