/** Numbers in the calls of programs that no JavaScript number holds: a program may speak to the socket itself. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Value } from '@reprise/contracts';
import { afterAll, expect, it } from 'vitest';
import { LineSocket } from '../../src/serve/lines.js';
import { Program } from '../../src/serve/program.js';

const ID = '2512292042121000001';
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-lines-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SCHEMAS = {
  text: { type: 'object', properties: { id: { type: 'string' } } } as const,
  number: { type: 'object', properties: { id: { type: 'integer' } } } as const,
};

/** A program of a session, and what its owner was asked; `ask` sends a line as it is and returns the next one. */
async function joined() {
  const asked: Value[] = [];
  const ctx = {
    session: { key: 's', labels: {} },
    signal: new AbortController().signal,
    owner: async (_name: string, args: Value) => {
      asked.push(args);
      return 'pending' as const;
    },
  };
  const program = new Program(ctx as never, {
    withinMs: 1_000,
    pending: 'later',
    tools: async () => Object.entries(SCHEMAS).map(([name, inputSchema]) => ({ name, description: '', inputSchema })),
    report: () => undefined,
  });
  const file = path.join(folder, 'socket');
  const server = createServer((socket: Socket) => {
    let guest: ReturnType<Program['join']>;
    const wire: LineSocket = new LineSocket(socket, {
      line: (line, numbers) => {
        if (guest === undefined) guest = program.join(line, wire);
        else guest.line(line, numbers);
      },
      over: () => undefined,
    });
  });
  server.listen(file);
  await once(server, 'listening');
  const socket = connect(file);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const ask = async (line: string): Promise<string> => {
    socket.write(`${line}\n`);
    return (await lines.next()).value;
  };
  expect(await ask('{"start":"abcdefgh"}')).toBe('{"ok":true}');
  return { ask, asked, close: () => void server.close(socket.destroy() as never) };
}

it('a large number of a program reaches its owner as its digits where the schema takes only text, and is refused elsewhere [TREE-66]', async () => {
  const { ask, asked, close } = await joined();
  expect(await ask(`{"call":"1","name":"text","args":{"id":${ID}}}`)).toContain('later');
  for (const [call, name] of [
    ['2', 'number'],
    ['3', 'not_offered'],
  ]) {
    const told = await ask(`{"call":"${call}","name":"${name}","args":{"id":${ID}}}`);
    expect(told).toMatch(new RegExp(`tool_args_invalid.*id: the number ${ID} is beyond`));
  }
  expect(await ask(`{"call":"4","name":"not_offered","args":{"id":"${ID}"}}`)).toContain('later');
  expect(asked).toEqual([{ id: ID }, { id: ID }]);
  close();
});
