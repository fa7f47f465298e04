/** Commands of trees whose model fails: a person reads what the provider said, which one it is, and what to do. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../run.js';
import { freshFolder } from '../worlds.js';

const KEY = 'sk-a-key-that-must-not-be-shown';
const folder = freshFolder();
const world = folder.file('tree.db');
const { OPENAI_API_KEY: key, XDG_STATE_HOME: home } = process.env;
let server: Server;

beforeAll(async () => {
  process.env.OPENAI_API_KEY = KEY;
  process.env.XDG_STATE_HOME = folder.file('home');
  server = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}`, code: 'bad_key' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  for (const [name, value] of Object.entries({ OPENAI_API_KEY: key, XDG_STATE_HOME: home }))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  server.close();
  folder.remove();
});

/** What every place says: the words, the server, the code, and the next step. */
const SAID =
  /Incorrect API key provided: .*\(127\.0\.0\.1, status 401\) \[provider_error_terminal\/auth\]\. Check the API key of the model/;

describe('a tree whose model refuses the key', () => {
  it('run, show and report say what the provider said, which server it was and what to do, and none shows the key [TREE-65]', async () => {
    const { port } = server.address() as AddressInfo;
    const model = ['--model', 'some-model', '--base-url', `http://127.0.0.1:${port}/v1`];
    const ran = await run('tree', 'run', 'Look.', '--name', 'look', '--world', world, '--plain', ...model);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toMatch(SAID);
    expect(ran.out).toMatch(SAID);
    const shown = {
      show: (await run('tree', 'show', 'look', '--world', world)).out,
      node: (await run('tree', 'show', 'look/1', '--world', world)).out,
      json: JSON.parse((await run('tree', 'show', 'look/1', '--world', world, '--json')).out).failure,
      report: (await run('tree', 'report', 'look', '--world', world)).out,
    };
    for (const [place, text] of Object.entries(shown)) expect(text.replace(/\s+/g, ' '), place).toMatch(SAID);
    expect(JSON.stringify([ran, shown])).not.toContain(KEY);
  });
});
