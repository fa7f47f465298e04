/** The picture of a tree and its events: from facts alone, with the same states in every form. */
import { readFileSync, writeFileSync } from 'node:fs';
import { isRef } from '@reprise/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { nodeLines, pictureOf, type TreeEvent, TreeFold, treeEventOf } from '../../src/index.js';
import { treeFactIn } from '../../src/views/index.js';
import { ANN, Facts, histories, link, surveyed } from './facts.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_261_123);
const texts = (of: unknown): string | undefined =>
  isRef(of) ? undefined : '41 files, most of them in src/read\nand twelve elsewhere';

/** The lines of a picture as text, uncut. */
function plainPicture(...picture: Parameters<typeof pictureOf>): string {
  return pictureOf(...picture)
    .map(({ kind, text, right }) => (kind === 'rule' ? '' : `${text}${right === '' ? '' : `   ${right}`}`))
    .join('\n');
}

/** The state of each node as its line in plain text shows it. */
function statesInText(picture: string): Map<number, string> {
  const lines = picture.split('\n').flatMap((line) => /^ +(\S) #(\d+) \[([^\]]+)\] /u.exec(line) ?? []);
  const states = new Map<number, string>();
  for (let i = 0; i < lines.length; i += 4) states.set(Number(lines[i + 2]), `${lines[i + 1]} ${lines[i + 3]}`);
  return states;
}

/** The state of each node as the newest of its events carries it. */
function statesInEvents(events: readonly TreeEvent[]): Map<number, string> {
  const states = new Map<number, string>();
  for (const event of events) if (event.type === 'node') states.set(event.node, `${event.mark} ${event.state}`);
  return states;
}

describe('the picture of a tree', () => {
  it('the plain picture shows each node with its mark, its state as a word, its reason and its cost [TREE-46]', async () => {
    const picture = `${plainPicture(surveyed().view(), { textOf: texts })}\n`;
    const path = new URL('./survey.txt', import.meta.url);
    if (process.env.GOLDEN_UPDATE === '1') writeFileSync(path, picture);
    expect(picture).toBe(readFileSync(path, 'utf8'));
  });

  it(`plain text and JSON carry the same state of every node, over random histories (seed ${SEED}) [TREE-46]`, () => {
    const law = fc.property(histories, (facts) => {
      const events = facts.list.map((fact, i) => treeEventOf(fact, { frame: i, at: i }));
      const inText = statesInText(plainPicture(facts.view()));
      expect([...inText].sort()).toEqual([...statesInEvents(events)].sort());
    });
    void fc.assert(law, { seed: SEED, numRuns: 300 / stepOf(4) });
  });

  it('the rows follow from the facts alone: folded in one process or in two halves, they are equal [TREE-41]', () => {
    const { list } = surveyed();
    const [whole, other] = [new TreeFold(), new TreeFold()];
    for (const [i, fact] of list.entries()) whole.add(fact, { frame: i, at: i });
    for (const [i, fact] of structuredCloned(list).entries()) other.add(fact, { frame: i, at: i });
    expect(plainPicture(only(other))).toBe(plainPicture(only(whole)));
  });

  it('a tree whose root is tried again is running again, and a paused root shows the tree as paused', () => {
    const root = { type: 'goal', parent: null } as const;
    const ended = { status: 'failed', code: 'timeout', result: null, spent: { tokens: 1, micro_money: 0 } } as const;
    const facts = new Facts()
      .start('Go')
      .node(1, { ...root, status: 'failed', code: 'timeout' })
      .push('tree/Ended@1', ended);
    expect(facts.view()).toMatchObject({ status: 'failed', code: 'timeout', ended: { frame: 3 } });
    facts.node(1, { ...root, status: 'pending' });
    expect(facts.view()).toMatchObject({ status: 'running', code: null, ended: null });
    facts.node(1, { ...root, status: 'pending', paused: true });
    expect(facts.view().status).toBe('paused');
  });

  it('above 200 nodes, an ended subtree is one line that says how many nodes are below it', () => {
    const facts = new Facts().start('Many').node(1, { type: 'goal', parent: null, status: 'active', run: 'live' });
    facts.node(2, { status: 'complete' });
    for (let n = 3; n <= 250; n++) facts.node(n, { parent: 2, status: 'complete' });
    const lines = nodeLines(facts.view());
    expect(lines.map(({ n }) => n)).toEqual([1, 2]);
    expect(lines[1]?.text).toContain('248 nodes below');
    expect(nodeLines(facts.view(), { foldAbove: 1_000 })).toHaveLength(250);
  });

  it('a goal with control characters and line breaks stays on its line and cannot look like another node', () => {
    const facts = new Facts()
      .start('Go')
      .node(1, { type: 'goal', parent: null, goal: 'x\n    ✓ #2 [complete] y\u001b[2J' });
    const picture = plainPicture(facts.view());
    expect(picture.split('\n').filter((line) => line.includes('[complete]'))).toHaveLength(1);
    expect(picture).not.toContain('\u001b');
    expect(statesInText(picture)).toEqual(new Map([[1, '○ pending']]));
  });

  it('a view of 20,000 nodes folds in one pass over the facts', () => {
    const facts = new Facts().start('Large').node(1, { type: 'goal', parent: null, status: 'active', run: 'live' });
    for (let n = 2; n <= 20_000; n++) facts.node(n, { parent: 1 });
    expect(facts.view().nodes.get(1)?.children).toHaveLength(19_999);
  });

  it('only facts that a cell of the tree recorded are read', () => {
    const value = new Facts().start('x').list[0]?.value as never;
    const record = { c: 0, kind: 'fact', name: 'tree/Started@1', value } as const;
    expect(treeFactIn({ ...record, from: ['tree/Tree@1', 'a'] })?.tree).toBe('a');
    expect(treeFactIn({ ...record, from: ['app/Other@1', 'a'] })).toBeUndefined();
    expect(treeFactIn({ ...record, name: 'tree/Else@1', from: ['tree/Tree@1', 'a'] })).toBeUndefined();
  });

  it('the answer to a question stands below its line, with who gave it', () => {
    const facts = surveyed().push('tree/Answered@1', {
      ...{ ask: 8, asker: 4, how: 'answered', by: ANN, picked: 'no', text_ref: link(9) },
    });
    facts.node(8, { type: 'ask', parent: 4, goal: 'Keep the old parser as well?', status: 'complete' });
    expect(plainPicture(facts.view())).toContain('answered by ann: no');
    expect(plainPicture(facts.view())).not.toContain('asks you');
  });
});

function only(fold: TreeFold) {
  const [view] = fold.trees.values();
  if (view === undefined) throw new Error('no tree');
  return view;
}

/** The facts as another process reads them: equal values, other objects. */
function structuredCloned(list: Facts['list']): Facts['list'] {
  return list.map((fact) => ({ ...fact, value: { ...fact.value } }) as (typeof list)[number]);
}
