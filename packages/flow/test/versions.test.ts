/** The first versions of graphs and topics: what they wrote goes on, and is replayed. */
import type { Address, JournalRecord } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { graph1 } from '../src/graph.js';
import { GRAPH, TOPIC } from '../src/index.js';
import { topic1 } from '../src/topic.js';
import { mortalStore } from './support/mortal-store.js';
import { app, app1, client, type Heard, Office } from './support/office.js';

const plan: Address = [GRAPH, 'plan'];
const news: Address = [TOPIC, 'news'];

const node = (name: string, needs: string[] = [], on_failure = 'cascade') => ({
  node: name,
  needs,
  on_failure,
  value: null,
});

const named = (heard: readonly Heard[]): string[] =>
  heard.map(({ name, value }) => {
    const { node: about, for: because } = value as { readonly node?: string; readonly for?: string | null };
    return [name.slice('flow/'.length), about, because].filter((part) => (part ?? undefined) !== undefined).join(' ');
  });

/** A graph with a skipped, a failed, a running and waiting nodes, and a topic with two subscribers. */
async function begin(office: Office): Promise<void> {
  await office.by('owner', plan, 'flow/OpenGraph@1', { limit: 2 });
  const nodes = [node('a'), node('b', ['a']), node('c', ['a'], 'wait'), node('d'), node('e', ['b'], 'wait')];
  await office.by('owner', plan, 'flow/AddNodes@1', { nodes });
  await office.settle();
  await office.by('owner', plan, 'flow/FinishNode@1', { node: 'a', ok: false });
  await office.by('owner', news, 'flow/OpenTopic@1', { retain: 2 });
  for (const key of ['x', 'y']) await office.by(key, news, 'flow/Subscribe@1', {});
  await office.host(news, 'flow/Publish@1', { name: 'n', value: 1 });
  await office.rest();
}

describe('cells of the first versions', () => {
  it('cells go on with the next version, which tells what the first did not, and all eras are replayed [FLOW-11]', async () => {
    const office = new Office(mortalStore(), app1);
    await begin(office);
    await office.deploy(app);
    await office.by('owner', plan, 'flow/SkipNode@1', { node: 'a' });
    await office.settle();
    await office.by('owner', plan, 'flow/FinishNode@1', { node: 'c', ok: true });
    await office.by('owner', plan, 'flow/CancelNode@1', { node: 'd' });
    await office.by('owner', plan, 'flow/AddNodes@1', { nodes: [node('f', ['b']), node('g', ['a', 'c'])] });
    await office.settle();
    await office.by('owner', plan, 'flow/SealGraph@1', {});
    await office.by('owner', plan, 'flow/FinishNode@1', { node: 'g', ok: true });
    await office.rest();
    expect(named(await office.heard('owner'))).toEqual([
      'NodeReady@1 a',
      'NodeReady@1 d',
      'NodeSkipped@1 a',
      'NodeReady@1 c',
      'NodeSkipped@1 f b',
      'NodeReady@1 g',
      'GraphSettled@1',
    ]);
    await office.host(client('z'), 'test/Trained@1', { work_ms: null, fails: [] });
    await office.by('owner', news, 'flow/Unsubscribe@1', { subscriber: [...client('x')] });
    await office.by('owner', news, 'flow/Subscribe@1', { subscriber: [...client('z')], from: 0 });
    await office.host(news, 'flow/Publish@1', { name: 'n', value: 2 });
    await office.rest();
    const cursors = await Promise.all(['x', 'y', 'z'].map(async (key) => (await office.heard(key)).length));
    expect(cursors).toEqual([1, 2, 2]);
    const report = await office.close();
    expect(report.unverified).toBe(0);
    expect(report.eras.map(({ status }) => status)).toEqual(['replayed', 'replayed']);
  });

  it('the first versions are what they were: their schemas, and what they decide [FLOW-11]', async () => {
    expect(graph1.digest).toBe('9f370c36e49999f7161e0211b21a82ebde683a2b086a8feff708a8d6a8cebe32');
    expect(topic1.digest).toBe('48113127585d8b7f5c1b90c70c8799be6f284a8613f50594afa30bfb6eb4b1c1');
    const office = new Office(mortalStore(), app1);
    await begin(office);
    await office.by('owner', plan, 'flow/SealGraph@1', {});
    await office.by('owner', plan, 'flow/FinishNode@1', { node: 'd', ok: true });
    await office.host(plan, 'flow/CancelNode@1', { node: 'e' });
    expect(named(await office.heard('owner'))).toEqual([
      'NodeReady@1 a',
      'NodeReady@1 d',
      'GraphSettled@1',
      'NodeCancelled@1 e',
    ]);
    expect((await office.records()).filter(isOfFlow).map(({ event }) => event.name)).not.toContain(
      'flow/NodeSkipped@1',
    );
    await office.close();
  });
});

type EventRecord = Extract<JournalRecord, { kind: 'event' }>;

const isOfFlow = (record: JournalRecord): record is EventRecord =>
  record.kind === 'event' && record.event.name.startsWith('flow/');
