/** What would have happened with another answer: dry forks of a conversation in which a person approves. The adversary is the answer that was given. */
import { existsSync, readdirSync } from 'node:fs';
import { defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { readFrame } from '@reprise/kernel/store';
import { whatIfReport } from '@reprise/operators/fork';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { run, runOn } from '../run.js';
import { freshFolder } from '../worlds.js';

const folder = freshFolder();
const path = folder.file('desk.db');
/** The effects of the world by kind, the oldest first. */
const effects: Record<string, string[]> = {};
let booked = 0;

beforeAll(async () => {
  const book = defineTool({
    name: 'book',
    description: 'Books a table.',
    args: z.strictObject({ table: z.string() }),
    approval: 'always',
    run: ({ table }) => {
      booked++;
      return `Booked ${table}.`;
    },
  });
  const host = defineAgent({ name: 'host', model: 'main', instructions: 'Book tables.', tools: [book] });
  const model = scriptBy(({ messages, last }) =>
    messages.at(-1)?.role === 'tool' || last.includes('Thank')
      ? { text: `Said after ${last.slice(0, 40)}` }
      : { calls: [{ tool: 'book', args: { table: 'two' } }] },
  );
  const world = await openAgentWorld({
    store: sqlite(path),
    agents: [host],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  await world.session('main', host).send('A table for two.');
  await world.pump();
  const [item] = await world.pending();
  await world.decide(item?.id ?? '', { approve: true });
  await world.pump();
  await world.session('main', host).send('Thank you.');
  await world.pump();
  await world.close();
  const store = await sqlite(path).openReadonly();
  for await (const { bytes, seq } of store.journal.read(0))
    for (const record of readFrame(bytes, seq).all)
      if (record.kind === 'effect') effects[record.name] = [...(effects[record.name] ?? []), record.effect];
  await store.close();
});
afterAll(() => folder.remove());

const [TOOL, MODEL] = ['tool.call@1', 'llm.generate@2'];

async function forked(name: string, ...options: readonly string[]) {
  const into = folder.file(name);
  const { code, out, err } = await run('fork', path, ...options, '--into', into, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const { into: place, ...report } = JSON.parse(out);
  expect(place).toBe(into);
  expect(whatIfReport.safeParse(report).error).toBeUndefined();
  expect((await run('verify', into)).code).toBe(0);
  return { into, report: whatIfReport.parse(report) };
}

describe('a fork with another answer', () => {
  it('given a call that a person approved, when it is denied in a fork, then the tool is not called, the next model call is another one, and the fork verifies', async () => {
    const { into, report } = await forked('denied.db', '--deny', effects[TOOL]?.[0]?.slice(0, 8) ?? '');
    expect(report.instead).toEqual([{ effect: effects[TOOL]?.[0], what: 'book {"table":"two"}', status: 'denied' }]);
    expect(report.unmatched[0]).toMatchObject({ what: 'a model call', of: { session: 'main', agent: 'host' } });
    expect(booked).toBe(1);
    expect((await run('log', into)).out).toMatch(/book .*(denied|not approved|rejected)/i);
  });

  it('given a result of a tool, when the fork has another one, then its log has that result, and the model is not called', async () => {
    const { into, report } = await forked('other.db', '--answer', `${effects[TOOL]?.[0]}=No table is free.`);
    expect(report.instead[0]?.status).toBe('ok');
    expect((await run('log', into)).out).toContain('No table is free.');
    expect(report.unmatched.length).toBeGreaterThan(0);
  });

  it('given an answer of a model, when the fork has another one without calls, then nothing is booked there, and the call is only in the original', async () => {
    const { into, report } = await forked('words.db', '--answer', `${effects[MODEL]?.[0]}=I cannot book.`);
    expect((await run('log', into)).out).toContain('I cannot book.');
    expect(report.unused.length).toBeGreaterThan(0);
    expect(booked).toBe(1);
  });

  it('given a frame and no other answer, when the requests are repeated, then each effect gets its recorded outcome', async () => {
    const { report } = await forked('same.db', '2', '--feed');
    expect(report).toMatchObject({ matched: 3, unmatched: [], unused: [], fed: { sent: 1, refused: [] } });
  });

  it('given forks beside a world, when they are listed, then each has the last frame that it shares, and other files are left out', async () => {
    await forked('listed.db', '2');
    const { out } = await run('fork', path, '--list');
    expect(out).toContain(`${folder.file('listed.db')}: dry, shares the frames up to 2`);
    expect(out).not.toContain('desk.db:');
  });

  it.each([
    ['no frame and no other answer', [], 'a fork begins at a frame or with another answer'],
    ['an effect that is not there', ['--deny', '00000000'], 'no effect begins with this'],
    ['an answer without an effect', ['--answer', 'No.'], 'this names no effect and its other answer'],
    ['a frame behind the end', ['99999'], 'there is no such frame'],
  ])('given %s, then the fork is refused with exit code 2, and no file is made', async (_, options, words) => {
    const before = readdirSync(folder.path);
    const { code, out, err } = await run('fork', path, ...options);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(words);
    expect(readdirSync(folder.path)).toEqual(before);
  });

  it('given no place for the fork, then a free one beside the world is taken, and text fits 60 columns', async () => {
    const first = await runOn(60, 'fork', path, '3');
    expect(first.code).toBe(0);
    expect(existsSync(folder.file('desk-fork-3.db'))).toBe(true);
    await run('fork', path, '3');
    expect(existsSync(folder.file('desk-fork-3-2.db'))).toBe(true);
    expect((await run('fork', path, '3', '--into', folder.file('desk-fork-3.db'))).err).toContain('there is a file');
  });
});
