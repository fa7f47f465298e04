/** `reprise serve`: a world for clients, from the command line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { connect } from '@reprise/client';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, run } from './run.js';
import { freshFolder, greeterWorld, makeAgentWorld, makeLedger } from './worlds.js';

const folder = freshFolder();
const APP = fileURLToPath(new URL('apps/served.ts', import.meta.url));
const TALKING = fileURLToPath(new URL('apps/talking.ts', import.meta.url));
const PAYING = fileURLToPath(new URL('apps/paying.ts', import.meta.url));
const NOTHING = fileURLToPath(new URL('apps/nothing.ts', import.meta.url));
const greeted = folder.file('greeted.db');

beforeAll(() => makeAgentWorld(greeted));
afterAll(() => folder.remove());

/** Starts `reprise serve`. */
function serve(...args: string[]): ChildProcess & { said(pattern: RegExp): Promise<RegExpExecArray> } {
  const child = spawn(process.execPath, commandLine('serve', ...args), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, REPRISE_MCP_SECRET: undefined, PAID: folder.file('paid') },
  });
  let seen = '';
  const hears = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes) => {
      seen += String(bytes);
      for (const hear of hears) hear();
    });
  const said = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(seen);
        if (found !== null) resolve(found);
      };
      hears.add(look);
      child.once('close', () => reject(new Error(`it ended: ${seen}`)));
      look();
    });
  return Object.assign(child, { said });
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};
const line = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

async function headOf(file: string): Promise<unknown> {
  const store = await sqlite(file).openReadonly();
  const head = await store.journal.head();
  await store.close();
  return head;
}

describe('reprise serve', () => {
  it('a world is served on standard input without its app: what it has recorded is read, and nothing is written', async () => {
    const before = await headOf(greeted);
    const child = serve(greeted, '--mcp', '--as', 'human:ann');
    child.stdin?.write(`${JSON.stringify(initialize)}\n`);
    child.stdin?.write(line(1, 'resources/read', { uri: 'reprise://sessions/s/transcript' }));
    const [, text = ''] = await child.said(/"text":"(.*?)"\}\]/);
    expect(text).toContain('Hi');
    child.stdin?.end();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(await headOf(greeted)).toEqual(before);
  });

  it('a world is served over HTTP with its app to the person for whom the token is, until the command is ended', async () => {
    const world = folder.file('http.db');
    const elsewhere = folder.file('elsewhere');
    writeFileSync(elsewhere, 'untouched');
    symlinkSync(elsewhere, `${world}.mcp-token`);
    const child = serve(world, '--mcp', '--http', '0', '--as', 'human:ann', '--app', APP, '--name', 'lists');
    const [, url = '', place = ''] = await child.said(/^(http:\S+)\nA token for human:ann, .*: (\S+)$/m);
    expect(readFileSync(elsewhere, 'utf8')).toBe('untouched');
    expect(statSync(place).mode & 0o777).toBe(0o600);
    const token = readFileSync(place, 'utf8').trim();
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify(initialize);
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401);
    const authorized = { ...headers, authorization: `Bearer ${token}` };
    const opened = await fetch(url, { method: 'POST', headers: authorized, body });
    expect(await opened.text()).toContain('"name":"lists"');
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    const call = line(1, 'tools/call', { name: 'put', arguments: {} });
    const answer = await fetch(url, { method: 'POST', headers: { ...authorized, ...session }, body: call });
    expect(await answer.text()).toContain('human:ann');
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect([code, existsSync(place)]).toEqual([0, false]);
  });

  it('sessions of an app are served over HTTP to a client of reprise/client, and their world verifies afterwards', async () => {
    const world = folder.file('sessions.db');
    const child = serve(world, '--sessions', '--http', '0', '--as', 'human:ann', '--app', TALKING);
    const [, url = '', place = ''] = await child.said(/^(http:\S+\/v1)\nA token for human:ann, .*: (\S+)$/m);
    const session = connect(url, { token: readFileSync(place, 'utf8').trim() }).session('ann/first');
    await session.send({ id: 'm1', text: 'Hello', agent: 'talker' });
    let last = '';
    for await (const told of session.follow(0)) if ('event' in told) last = told.event.type;
    expect([last, (await session.run(0)).text]).toEqual(['lifecycle', 'You said: Hello']);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect((await run('verify', world)).code).toBe(0);
  });

  it('sessions of an app are served over AG-UI, and their world verifies afterwards', async () => {
    const world = folder.file('ag-ui.db');
    const child = serve(world, '--ag-ui', '--http', '0', '--as', 'human:ann', '--app', TALKING);
    const [, url = '', place = ''] = await child.said(/^(http:\S+\/ag-ui)\nA token for human:ann, .*: (\S+)$/m);
    const input = { threadId: 't', runId: 'r', messages: [{ id: 'm1', role: 'user', content: 'Hello' }] };
    const headers = { authorization: `Bearer ${readFileSync(place, 'utf8').trim()}` };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(input) });
    expect(await answer.text()).toMatch(/"delta":"You said: Hello"[\s\S]*"type":"RUN_FINISHED"/);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect((await run('verify', world)).code).toBe(0);
  });

  it('an interrupt of AG-UI outlives a server that is killed: it is answered at the next one, and again at another, and its tool runs once [SRV-43, SRV-44]', async () => {
    const world = folder.file('killed.db');
    const paid = folder.file('paid');
    let child = serve(world, '--ag-ui', '--http', '0', '--as', 'human:ann', '--app', PAYING);
    const post = async (body: object) => {
      const [, url = '', place = ''] = await child.said(/^(http:\S+\/ag-ui)\nA token for human:ann, .*: (\S+)$/m);
      const headers = { authorization: `Bearer ${readFileSync(place, 'utf8').trim()}` };
      const messages = [{ id: 'm1', role: 'user', content: 'pay 500' }];
      const input = JSON.stringify({ threadId: 't', runId: 'r', messages, ...body });
      return (await fetch(url, { method: 'POST', headers, body: input })).text();
    };
    const restart = async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      child = serve(world, '--ag-ui', '--http', '0', '--as', 'human:ann', '--app', PAYING);
    };
    const [, interruptId] = /"interrupts":\[\{"id":"(\w+)"/.exec(await post({})) ?? [];
    await restart();
    expect(await post({})).toContain(`"interrupts":[{"id":"${interruptId}"`);
    const resume = [{ interruptId, status: 'resolved', payload: { approved: true } }];
    const told = await post({ runId: 'r2', resume });
    expect(told).toMatch(/"delta":"Done: Paid 500."[\s\S]*"type":"RUN_FINISHED"/);
    await restart();
    expect(await post({ runId: 'r2', resume })).toBe(told);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect([readFileSync(paid, 'utf8'), (await run('verify', world)).code]).toEqual(['500\n', 0]);
  });

  it('a world that another process has, or that has more than sessions, is refused with what to do', async () => {
    const ledger = folder.file('ledger.db');
    await makeLedger(ledger);
    const other = await run('serve', ledger, '--mcp', '--as', 'human:ann');
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('--app MODULE')]);
    const { world } = await greeterWorld(folder.file('held.db'));
    const held = await run('serve', folder.file('held.db'), '--mcp', '--as', 'human:ann');
    expect([held.code, held.err]).toEqual([3, expect.stringMatching(/^world_locked: [\s\S]*serveHttp\(world/)]);
    await world.close();
  });

  it.each<[string, string[], RegExp]>([
    ['nothing to serve', [greeted, '--as', 'human:ann'], /--mcp, --sessions and --ag-ui/],
    ['sessions on standard input', [greeted, '--sessions', '--as', 'human:ann'], /--http PORT/],
    ['AG-UI on standard input', [greeted, '--ag-ui', '--as', 'human:ann'], /--http PORT/],
    ['no person on standard input', [greeted, '--mcp'], /human:NAME/],
    ['no way to a token', [greeted, '--mcp', '--http', '0'], /REPRISE_MCP_SECRET/],
    ['no person', [greeted, '--mcp', '--as', 'operator'], /human: and a name/],
    ['no port', [greeted, '--mcp', '--http', '70000', '--as', 'human:ann'], /0 to 65535/],
    ['a module without an app', [greeted, '--mcp', '--as', 'human:ann', '--app', NOTHING], /exports nothing/],
    ['no module', [greeted, '--mcp', '--as', 'human:ann', '--app', 'none.js'], /does not exist/],
  ])('wrong use is refused in words: %s', async (_, args, words) => {
    const { code, err } = await run('serve', ...args);
    expect([code, err]).toEqual([2, expect.stringMatching(words)]);
  });

  it('a file that is no world is told so', async () => {
    const text = folder.file('notes.db');
    writeFileSync(text, 'These are notes, and no world.\n'.repeat(200));
    const { code, err } = await run('serve', text, '--mcp', '--as', 'human:ann');
    expect([code, err]).toEqual([3, expect.stringContaining('world_absent')]);
  });
});
