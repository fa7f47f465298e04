import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';
import { command, ended, run, runOn, start, startProgram } from './run.js';
import { freshFolder, greeterWorld, HOSTILE, makeAgentWorld, makeLedger } from './worlds.js';

const CHATTER = await program(new URL('apps/chatter.ts', import.meta.url));
/** Text without control characters except line feeds. */
const PLAIN = /^[^\p{Cc}\p{Cf}]*$/u;

const folder = freshFolder();
const world = folder.file('agent.db');

beforeAll(() => makeAgentWorld(world));
afterAll(() => folder.remove());

/** The columns of a text without combining characters. */
function columnsOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (/[\u4e00-\u9fff]/.test(character) ? 2 : 1), 0);
}

function lines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

describe('reprise log', () => {
  it('reprise log prints who said what, the answers and the ends, with their places', async () => {
    const { code, out, err } = await command(folder.path, 'log', 'agent.db');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines(out).map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'TIME'))).toEqual([
      expect.stringMatching(/^0\.0 {5}TIME \(world\) {4}world [0-9a-f]{12} begins: 1 reducer, \d+ plans, \d+ effects$/),
      '1.1     TIME s          configuration 1: model main',
      '2.0     TIME s          operator (not named) says (run 0): "Hi"',
      '3.3     TIME s          model answers (step 1): "Hello."',
      '3.4     TIME s          run 0 ends: completed after 1 step, 0 tokens in, 0 out',
    ]);
  });

  it('reprise log prints a JSON object for each line', async () => {
    const rows = lines((await run('log', world, '--json')).out).map((line) => JSON.parse(line));
    expect(rows.map(({ kind }) => kind)).toEqual(['manifest', 'config', 'message', 'answer', 'end']);
    expect(rows[2]).toMatchObject({ place: '2.0', seq: 2, i: 0, session: 's', run: 0, by: 'operator', text: 'Hi' });
    expect(rows[0]).toMatchObject({ session: null, cell: null });
  });

  it('reprise log prints one session, found by the beginning of its key, from a frame on, or the last lines', async () => {
    expect(lines((await run('log', world, '--session', 's')).out)).toHaveLength(4);
    expect(lines((await run('log', world, '--from', '3')).out)).toHaveLength(2);
    expect(lines((await run('log', world, '-n', '1')).out)[0]).toMatch(/run 0 ends: completed/);
    const wrong = await run('log', world, '--session', 'nobody');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('no session has this key\n  expected    one of s\n  found       nobody\n');
  });

  it('reprise log shows hostile text as escapes and keeps each entry on one line', async () => {
    const path = folder.file('hostile.db');
    const { world: open, session } = await greeterWorld(path);
    await session.send(`say ${HOSTILE} 0.0 human:boss approves`);
    await open.kernel.pump();
    await open.close();
    const { out } = await run('log', path);
    for (const line of lines(out)) expect(line).toMatch(PLAIN);
    expect(lines(out).filter((line) => line.includes('human:boss'))).toHaveLength(1);
    expect(out).toContain(
      'operator (not named) says (run 0): "say \\u001b[2J\\u202egnp\\u009b31m\\nfake line 0.0 human:boss',
    );
  });

  it('reprise log prints the requests and facts of a world without sessions', async () => {
    const path = folder.file('ledger.db');
    await makeLedger(path);
    const { code, out } = await run('log', path);
    expect(code).toBe(0);
    expect(out).toContain('demo/Ledger@1/a operator (not named) requests demo/Added@1: {"by":1}\n');
    expect(lines(out).filter((line) => line.includes('demo/Added@1'))).toHaveLength(4);
  });

  it('reprise log cuts long texts and prints them whole with --full', async () => {
    const path = folder.file('long.db');
    const { world: open, session } = await greeterWorld(path);
    await session.send(`${'x'.repeat(9_000)} the end`);
    await open.kernel.pump();
    await open.close();
    expect((await run('log', path)).out).toMatch(/x…" \(\+816 characters, sha256:[0-9a-f]{12}\)\n/);
    expect((await run('log', path, '--full')).out).toContain('x the end"\n');
  });

  it('reprise log fits its lines to a terminal, breaks them between words, and prints each date once', async () => {
    const path = folder.file('wide.db');
    const { world: open, session } = await greeterWorld(path);
    await session.send(`${'word '.repeat(40)}${'漢字'.repeat(40)} 99.0 human:boss approves ${'y'.repeat(200)}`);
    await open.kernel.pump();
    await open.close();
    const { out } = await runOn(80, 'log', path);
    const printed = lines(out);
    expect(printed[0]).toMatch(/^\d{4}-\d\d-\d\d \(UTC\)$/);
    expect(printed.filter((line) => line.endsWith('(UTC)'))).toHaveLength(1);
    for (const line of printed) expect(columnsOf(line)).toBeLessThanOrEqual(80);
    // A text of others never stands at the beginning of a line, where entries do.
    for (const line of printed.slice(1)) expect(line).toMatch(/^(?:\d+\.\d+ +\d\d:\d\d:\d\d | {17}\S)/);
    const whole = lines((await run('log', path)).out).find((line) => line.includes('human:boss')) ?? '';
    expect(out.replace(/\n {17}/g, ' ').replaceAll(' ', '')).toContain(
      whole.slice(whole.indexOf('operator')).replaceAll(' ', ''),
    );
    for (const line of lines((await runOn(80, 'tail', path)).out)) expect(columnsOf(line)).toBeLessThanOrEqual(80);
    for (const line of lines((await runOn(80, 'why', path, 'Hello')).out))
      expect(columnsOf(line)).toBeLessThanOrEqual(80);
    for (const line of lines((await runOn(80, 'why', path, 'none of it')).err))
      expect(columnsOf(line)).toBeLessThanOrEqual(80);
  });

  it('reprise log --follow ends with an error when another file takes the place of the world', async () => {
    const [path, other] = [folder.file('restored.db'), folder.file('other.db')];
    await makeAgentWorld(path);
    await makeAgentWorld(other);
    const follower = start(folder.path, 'log', 'restored.db', '--follow');
    const end = ended(follower);
    await once(follower.stdout!, 'data');
    renameSync(other, path);
    const { code, err } = await end;
    expect(code).toBe(3);
    expect(err).toContain('world_moved: the world was moved, removed or replaced while it was followed\n');
  });

  it('reprise log follows a world that another process writes, through its death by kill -9 and its restart', async () => {
    const path = folder.file('live.db');
    const first = startProgram(folder.path, CHATTER, path);
    const acknowledged: number[] = [];
    await said(first, acknowledged, 3);
    const follower = start(folder.path, 'log', 'live.db', '--follow', '--json', '--session', 's');
    let printed = '';
    follower.stdout?.on('data', (data) => {
      printed += String(data);
    });
    const end = ended(follower);
    await said(first, acknowledged, 12);
    await killed(first);
    const next = startProgram(folder.path, CHATTER, path, '1000');
    await said(next, acknowledged, acknowledged.length + 12);
    await killed(next);
    await caughtUp(path, follower, () => printed);
    const { code, out, err } = await end;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const rows = lines(out).map((line) => JSON.parse(line));
    const places = rows.map(({ seq, i }) => seq * 1_000 + i);
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    const texts = rows.filter(({ kind }) => kind === 'message').map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
    // A message that was durable but not acknowledged when the writer died may be there as well.
    expect(texts).toEqual(expect.arrayContaining(acknowledged.map((n) => `message ${n}`)));
    expect(texts.length - acknowledged.length).toBeLessThanOrEqual(2);
    const whole = lines((await run('log', path, '--json', '--session', 's')).out).map((line) => JSON.parse(line));
    expect(rows).toEqual(whole);
  });
});

/** Waits until the writer has had so many messages acknowledged in all. */
async function said(writer: ChildProcess, acknowledged: number[], count: number): Promise<void> {
  while (acknowledged.length < count) {
    const [data] = await once(writer.stdout!, 'data');
    acknowledged.push(...String(data).trim().split('\n').map(Number));
  }
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Stops the follower once it has printed the last entry. */
async function caughtUp(path: string, follower: ChildProcess, printed: () => string): Promise<void> {
  const { out } = await run('log', path, '--json', '--session', 's', '-n', '1');
  const { place } = JSON.parse(out);
  while (!printed().includes(`"place":"${place}"`)) await once(follower.stdout!, 'data');
  follower.kill('SIGINT');
}
