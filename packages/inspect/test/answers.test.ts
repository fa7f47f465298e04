/** Every question, on every kind of world: the JSON of the command, or its parts. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spread } from '../../../conformance/part.js';
import ledgerApp from '../../cli/test/apps/app.js';
import { makeMemories } from '../../cli/test/operators/memory-scene.js';
import { makeScene, makeSwarm } from '../../cli/test/operators/scene.js';
import { run } from '../../cli/test/run.js';
import { freshFolder, makeAgentWorld, makeLedger } from '../../cli/test/worlds.js';
import { openPage, type Page, QUESTIONS } from './page.js';

const folder = freshFolder();
const KINDS = ['scene', 'swarm', 'memory', 'agent', 'ledger'] as const;
type Kind = (typeof KINDS)[number];
const pages = new Map<Kind, Page>();
const fileOf = (kind: Kind) => folder.file(`${kind}.db`);
const pageOf = (kind: Kind) => pages.get(kind) as Page;
const APP = new URL('../../cli/test/apps/app.ts', import.meta.url).pathname;
/** The options of the command that name the app of a world. */
const appOf = (kind: Kind) => (kind === 'ledger' ? ['--app', APP] : []);

beforeAll(async () => {
  await makeScene(fileOf('scene'));
  await makeSwarm(fileOf('swarm'));
  await makeMemories(fileOf('memory'));
  await makeAgentWorld(fileOf('agent'));
  await makeLedger(fileOf('ledger'));
  for (const kind of KINDS) pages.set(kind, await openPage(fileOf(kind), kind === 'ledger' ? ledgerApp : undefined));
});
afterAll(async () => {
  for (const page of pages.values()) await page.close();
  folder.remove();
});

/** What the command prints. */
async function printed(...args: string[]) {
  return JSON.parse((await run(...args, '--json')).out);
}

/** The lines that the command prints, each a value. */
async function lines(...args: string[]) {
  const { out } = await run(...args, '--json');
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe.each(KINDS)('questions about the %s world', (kind) => {
  const file = fileOf(kind);
  const ask = async (path: string) => {
    const { status, json } = await pageOf(kind).ask(`/api/${path}`);
    expect({ path, status, error: status === 200 ? undefined : json }).toEqual({ path, status: 200 });
    return json;
  };

  it(`waiting, cost, diff and rights of the ${kind} world are the JSON of the command, at each of its frames`, async () => {
    const { frame } = (await ask('world')).last;
    expect(await ask('waiting')).toEqual(await printed('waiting', file));
    for (const at of spread(2, [Math.floor(frame / 2), 0, frame])) {
      expect(await ask(`waiting?at=${at}`)).toEqual(
        await printed('waiting', file, '--at', String(at), '--limit', '200'),
      );
      const cost = await printed('cost', file, '--by', 'agent,day', '--at', String(at));
      expect(await ask(`cost?by=agent,day&at=${at}`)).toEqual(cost);
      const rights = await printed('rights', file, 'operator', '--at', String(at), ...appOf(kind));
      expect(await ask(`rights?holder=operator&at=${at}`)).toEqual(rights);
      const diff = await printed('diff', file, '0', String(at), ...appOf(kind));
      expect(await ask(`diff?a=0&b=${at}`)).toEqual(diff);
    }
  });

  it(`the society of the ${kind} world is the JSON of the command`, async () => {
    if (kind !== 'ledger') expect(await ask('society')).toEqual(await printed('society', 'show', file));
  });

  it(`the memories of the ${kind} world and their readers are the JSON of the command`, async () => {
    const memories = await ask('memory');
    expect(memories).toEqual(await printed('memory', file, '--limit', '200', ...appOf(kind)));
    for (const { item } of spread<{ item: string }>(3, memories.rows)) {
      const query = `item=${encodeURIComponent(item)}`;
      expect(await ask(`memory?${query}`)).toEqual(await printed('memory', file, item));
      expect(await ask(`readers?${query}`)).toEqual(await printed('readers', file, item, '--limit', '200'));
    }
    if (kind === 'memory') expect(memories.rows).toHaveLength(8);
  });

  it(`the trust of the ${kind} world ends where its society says`, async () => {
    if (kind === 'ledger') return;
    const { pairs } = await ask('trust');
    const { trust } = await ask('society');
    const ends = pairs.map(({ changes: _, ...end }: Record<string, unknown>) => end);
    const named = (all: unknown[]) => all.map((one) => JSON.stringify(one)).sort();
    expect(named(ends)).toEqual(named(trust));
  });

  it(`the story of the ${kind} world has the entries of reprise log, page by page`, async () => {
    const logged = await lines('log', file, '--full');
    const seen: { place: string; kind: string }[] = [];
    for (let before = ''; ; ) {
      const page = await ask(`story?limit=7${before}`);
      seen.unshift(...page.entries);
      if (page.before === null) break;
      before = `&before=${page.before}`;
    }
    expect(seen.map(({ place, kind: what }) => [place, what])).toEqual(
      logged.map(({ place, kind: what }) => [place, what]),
    );
  });

  it(`the cells of the ${kind} world have the states that reprise show prints`, async () => {
    const { last } = await ask('world');
    const { cells } = await ask('cells');
    expect(cells.length).toBeGreaterThan(0);
    for (const cell of spread<string>(3, cells)) {
      const shown = await printed('show', file, cell, ...appOf(kind));
      const { state, replayed, head } = await ask(`state?cell=${encodeURIComponent(cell)}`);
      expect({ state, replayed, head: `sha256:${head}` }).toEqual({
        state: shown.state,
        replayed: true,
        head: shown.head,
      });
    }
    const { cells: first, next } = await ask('cells?limit=1');
    expect([...first, ...(next === null ? [] : (await ask(`cells?after=${encodeURIComponent(next)}`)).cells)]).toEqual(
      cells,
    );
    expect((await ask(`cells?at=${last.frame}&prefix=nothing`)).cells).toEqual([]);
  });

  it(`records of the ${kind} world are the lines of tail and the records of show, whole, page by page`, async () => {
    const { out } = await run('tail', file, '-n', '1000');
    const seen: string[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const page: { next: number | null; frames: { records: string[] }[] } = await ask(`records?from=${from}&limit=3`);
      seen.push(...page.frames.flatMap(({ records }) => records));
      from = page.next;
    }
    expect(`${seen.join('\n')}\n`).toBe(out);
    expect((await ask('record?frame=0&i=0')).record).toEqual((await printed('show', file, '0.0')).record);
  });

  it(`the strip of the ${kind} world covers each frame once`, async () => {
    const { frame } = (await ask('world')).last;
    for (const buckets of [1, 3, 400]) {
      const strip = await ask(`strip?buckets=${buckets}`);
      const covered = strip.buckets.flatMap(({ from, to }: { from: number; to: number }) =>
        Array.from({ length: to - from + 1 }, (_, i) => from + i),
      );
      expect(covered).toEqual(Array.from({ length: frame + 1 }, (_, i) => i));
    }
  });

  it(`now of the ${kind} world sums up what the other questions answer`, async () => {
    const now = await ask('now');
    const waiting = await ask('waiting');
    expect(now.waiting).toEqual(waiting.waiting.slice(0, 20));
    expect(now.waiting_total).toBe(waiting.waiting.length);
    expect(now.unfinished).toEqual(waiting.unfinished.slice(0, 20));
    expect(now.trouble).toEqual((await ask('trouble')).rows.slice(0, 20));
  });

  it(`the ${kind} world is verified over the page, with the head that the command prints`, async () => {
    const { status, text } = await pageOf(kind).send('POST', '/api/verify', { 'x-reprise-token': pageOf(kind).token });
    const messages = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { head, seq } = await printed('verify', file, '--workers', '1', ...appOf(kind));
    expect(status).toBe(200);
    expect(messages.at(-1)).toEqual({ type: 'done', frame: seq, head: head.slice('sha256:'.length) });
  });
});

describe('questions about parts of a world', () => {
  const scene = (path: string) => pageOf('scene').ask(`/api/${path}`);

  it('a tree has the nodes of reprise tree show with their marks, and its open questions', async () => {
    const shown = await printed('tree', 'show', 'upgrade', '--world', fileOf('scene'));
    const { json } = await scene('tree?name=upgrade');
    const rows = (nodes: Record<string, unknown>[]) =>
      nodes.map(({ n, parent, goal, mark, state }) => ({ n, parent, goal, mark, state }));
    expect(rows(json.nodes)).toEqual(rows(shown.nodes));
    expect({ mark: json.mark, state: json.state }).toEqual({ mark: shown.mark, state: shown.state });
    expect(json.asks).toEqual([{ n: 2, asker: 1, question: 'Keep the old parser?' }]);
  });

  it('a tree at a frame is the tree that the command shows at this frame', async () => {
    for (const at of [9, 11, 14]) {
      const shown = await printed('tree', 'show', 'upgrade', '--world', fileOf('scene'), '--at', String(at));
      const { json } = await scene(`tree?name=upgrade&at=${at}`);
      expect(json.nodes.map(({ state }: { state: string }) => state)).toEqual(
        shown.nodes.map(({ state }: { state: string }) => state),
      );
    }
  });

  it('a project has the tasks and the waits of reprise team show', async () => {
    const shown = await printed('team', 'show', '--project', 'party', '--world', fileOf('scene'));
    const { json } = await scene('team?project=party');
    expect(json.state).toBe(shown.status);
    expect(json.tasks.map(({ task }: { task: number }) => task)).toEqual(
      shown.tasks.map(({ id }: { id: number }) => id),
    );
    expect(json.waits).toHaveLength(shown.waits.length);
  });

  it('a prompt is the JSON of reprise prompt, by the effect that a line of the story names', async () => {
    const { entries } = (await scene('story')).json;
    const answer = entries.find(({ kind, by }: { kind: string; by: string }) => kind === 'answer' && by === 'model');
    const { ok: _, ...shown } = await printed('prompt', fileOf('scene'), answer.effect);
    expect((await scene(`prompt?call=${answer.effect}`)).json).toEqual(shown);
    const sent = await printed('prompt', fileOf('scene'), answer.effect, '--as', 'sent');
    expect((await scene(`prompt?call=${answer.effect}&as=sent`)).json.sent).toEqual(sent.sent);
  });

  it('the story of one session has the entries of reprise log -s', async () => {
    const logged = await lines('log', fileOf('scene'), '--full', '-s', 'main');
    const { entries } = (await scene('story?session=main')).json;
    expect(entries.map(({ place }: { place: string }) => place)).toEqual(logged.map(({ place }) => place));
  });

  it('content comes in the form that reprise show prints: a text, a value, bytes', async () => {
    const ledger = pageOf('ledger');
    const { event } = (await ledger.ask('/api/record?frame=5&i=0')).json.record;
    const refs: string[] = event.value.at;
    expect(refs).toHaveLength(3);
    for (const ref of refs) {
      const shown = await printed('show', fileOf('ledger'), ref);
      const { json } = await ledger.ask(`/api/blob?digest=${ref}`);
      expect({ kind: json.kind, bytes: json.bytes }).toEqual({ kind: shown.as, bytes: shown.size });
      if (shown.as === 'value') expect(JSON.parse(json.text)).toEqual(shown.value);
      else expect(json.text).toBe(shown[shown.as]);
    }
  });

  it('a search leads to sessions, trees, projects, cells, frames and lines of the story', async () => {
    const to = async (q: string) => (await scene(`search?q=${q}`)).json.hits.map((hit: { to: string }) => hit.to);
    expect(await to('upgrade')).toContain('/tree/upgrade');
    expect(await to('party')).toEqual(expect.arrayContaining(['/team/party', '/story/party%2Fcoordinator']));
    expect(await to('12.1')).toContain('/f/12/1');
    expect(await to('table')).toEqual(
      expect.arrayContaining([expect.stringMatching(/^\/story\/main\?at=\d+&sel=\d+\.\d+$/)]),
    );
  });

  it.each([
    ['tree?name=none', 404],
    ['team?project=none', 404],
    ['story?session=none', 404],
    ['state?cell=tree/Tree@1/none', 404],
    ['state?cell=demo/None@1/a', 404],
    ['record?frame=0&i=99', 404],
    ['record?frame=9999&i=0', 404],
    ['records?from=9999', 404],
    ['prompt?call=ffffffffffff', 404],
    [`blob?digest=${'0'.repeat(64)}`, 404],
    ['nothing', 404],
    ['constructor', 404],
    ['__proto__', 404],
    ['now?at=9999', 400],
  ] as const)('%s, which is not there, is answered with %i and a code', async (path, status) => {
    const { status: actual, json } = await scene(path);
    expect({ path, status: actual }).toEqual({ path, status });
    expect(json.code).toMatch(/^[a-z_]+$/);
    expect(JSON.stringify(json)).not.toMatch(/at .*\.[jt]s/);
  });

  it('two readers at different frames, each question at once with the other, get what each gets alone [SRV-28]', async () => {
    const paths = [4, 18, 9, 11, 2, 16].flatMap((at) => [
      `state?cell=${encodeURIComponent('aos.agent/SessionReducer@1/main')}&at=${at}`,
      `cells?at=${at}`,
      `waiting?at=${at}`,
    ]);
    const alone: unknown[] = [];
    for (const path of paths) alone.push((await scene(path)).json);
    const together = await Promise.all(paths.map((path) => scene(path).then(({ json }) => json)));
    expect(together).toEqual(alone);
  });

  it('every question is asked by these tests', () => {
    expect(Object.keys(QUESTIONS)).toHaveLength(23);
  });
});
