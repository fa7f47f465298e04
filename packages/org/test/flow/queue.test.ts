import type { Address } from '@reprise/contracts';
import { givenReducer } from '@reprise/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QUEUE, queue } from '../../src/pure/flow/index.js';
import { client, deaf, type Heard, Office } from './support/office.js';
import { QueueModel, type QueueStep } from './support/queue-model.js';
import { holdLine } from './support/trials.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
const line: Address = [QUEUE, 'line'];

const clients = fc.constantFrom('a', 'b', 'c');
const items = fc.nat(12).map((n) => `i${n}`);
const steps: fc.Arbitrary<QueueStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      by: clients,
      item: items,
      priority: fc.integer({ min: -2, max: 2 }),
      lease: fc.constantFrom(null, null, 10, 25),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('done' as const), by: clients, item: items }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('cancel' as const),
      by: fc.constantFrom('a', 'b', 'c', 'operator'),
      item: items,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), limit: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.constantFrom<QueueStep>({ do: 'pause' }, { do: 'resume' }, { do: 'resume' }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 10, 15, 40) }) },
);

const opened = async (limit = 2): Promise<Office> => {
  const office = new Office();
  await office.host(line, 'flow/OpenQueue@1', { limit, paused: false });
  return office;
};

async function execute(office: Office, step: QueueStep): Promise<void> {
  switch (step.do) {
    case 'enqueue': {
      const { item, priority, lease } = step;
      const lease_ms = lease === null ? {} : { lease_ms: lease };
      return office.by(step.by, line, 'flow/Enqueue@1', { item, priority, value: item, ...lease_ms });
    }
    case 'done':
      return office.by(step.by, line, 'flow/Done@1', { item: step.item });
    case 'cancel':
      if (step.by !== 'operator') return office.by(step.by, line, 'flow/CancelItem@1', { item: step.item });
      return void (await office.host(line, 'flow/CancelItem@1', { item: step.item }));
    case 'limit':
      return void (await office.host(line, 'flow/LimitQueue@1', { limit: step.limit }));
    case 'pass':
      return office.pass(step.ms);
    default:
      return void (await office.host(line, step.do === 'pause' ? 'flow/PauseQueue@1' : 'flow/ResumeQueue@1', {}));
  }
}

/** What a client heard, as the model says it. */
const said = (heard: readonly Heard[]): string[] =>
  heard.map(({ name, value }) => (name.startsWith('flow/') ? `${name} ${(value as { item: string }).item}` : name));

async function holdModel(
  list: readonly QueueStep[],
  mutant: (model: QueueModel, step: QueueStep) => void,
): Promise<void> {
  const office = await opened();
  const model = new QueueModel(2, office.clock.wall());
  for (const step of list) {
    await execute(office, step);
    await office.settle();
    mutant(model, step);
  }
  for (const key of ['a', 'b', 'c']) expect(said(await office.heard(key))).toEqual(model.heard.get(key) ?? []);
  const names = async (table: string) =>
    (await office.table(line, table)).map(([, value]) => (value as { item: string }).item).sort();
  expect({ waiting: await names('waiting'), running: await names('running') }).toEqual(model.items);
  await office.close();
}

describe(`a queue (seed ${SEED})`, () => {
  const law = (mutant: (model: QueueModel, step: QueueStep) => void) =>
    fc.asyncProperty(fc.array(steps, { maxLength: 40, size: 'max' }), (list) => holdModel(list, mutant));

  it('a queue answers and notifies like a plain model, for any sequence of commands [FLOW-1]', async () => {
    await fc.assert(
      law((model, step) => model.step(step)),
      { seed: SEED, numRuns: 25 },
    );
  });

  it.each<[string, (model: QueueModel, step: QueueStep) => void]>([
    ['forgets priorities', (model, step) => model.step(step.do === 'enqueue' ? { ...step, priority: 0 } : step)],
    ['lets leases last', (model, step) => model.step(step.do === 'enqueue' ? { ...step, lease: null } : step)],
    ['lets anybody be done', (model, step) => model.step(step.do === 'done' ? { ...step, by: 'operator' } : step)],
    ['never pauses', (model, step) => (step.do === 'pause' ? undefined : model.step(step))],
  ])('a mutant of the model that %s is found', async (_, mutant) => {
    const found = await fc.check(law(mutant), { seed: SEED, numRuns: 60, endOnFailure: true });
    expect(found.failed).toBe(true);
  });

  it('a queue drops the items of an ended cell at their turn and frees its slots [FLOW-2]', async () => {
    const office = await opened();
    for (let i = 0; i < 60; i++)
      await office.by('gone', line, 'flow/Enqueue@1', { item: `g${i}`, value: i, priority: 1 });
    await office.by('here', line, 'flow/Enqueue@1', { item: 'mine', value: 1 });
    await office.host(client('gone'), 'test/Quit@1', {});
    await office.host(line, 'flow/CancelItem@1', { item: 'g0' });
    await office.rest();
    expect(said(await office.heard('here'))).toEqual(['flow/Granted@1 mine']);
    expect((await office.table(line, 'items')).map(([item]) => item)).toEqual(['mine']);
    await office.close();
  });

  it.each<readonly [string, (office: Office) => Promise<unknown>]>([
    ['ends', (office) => office.host(client('holder'), 'test/Quit@1', {})],
    [
      'fails',
      (office) => {
        const defect = { to: [...line], name: 'flow/Unknown@1', value: {} };
        return office.by('other', client('holder'), 'test/Told@1', defect);
      },
    ],
  ])('a queue gives the slot of a cell that %s to the next item at once [FLOW-12]', async (_, over) => {
    const office = await opened(1);
    await office.by('holder', line, 'flow/Enqueue@1', { item: 'theirs', value: 1 });
    await office.by('here', line, 'flow/Enqueue@1', { item: 'mine', value: 1 });
    expect(said(await office.heard('here'))).toEqual([]);
    await over(office);
    await office.rest();
    expect(said(await office.heard('here'))).toEqual(['flow/Granted@1 mine']);
    expect((await office.table(line, 'items')).map(([item]) => item)).toEqual(['mine']);
    await office.close();
  });

  it('a queue drops the item of a cell that takes no grants, and does not fail [FLOW-2]', async () => {
    const office = await opened(1);
    await office.host(deaf('d'), 'test/Told@1', {
      to: [...line],
      name: 'flow/Enqueue@1',
      value: { item: 'x', value: 1 },
    });
    await office.by('here', line, 'flow/Enqueue@1', { item: 'mine', value: 1 });
    await office.rest();
    expect(said(await office.heard('here'))).toEqual(['flow/Granted@1 mine']);
    await office.close();
  });

  it('a queue with many free slots grants them in several frames, in order', async () => {
    const office = await opened(0);
    for (let i = 0; i < 70; i++) {
      await office.by('a', line, 'flow/Enqueue@1', { item: `i${i}`, value: 'x'.repeat(7_000), priority: i % 3 });
    }
    await office.host(client('a'), 'test/Trained@1', { work_ms: 3 });
    await office.host(line, 'flow/LimitQueue@1', { limit: 64 });
    await office.rest();
    holdLine(await office.records(), 64, 70);
    await office.close();
  });

  it('a queue refuses items that are too large or have no owner, and commands that the sender may not send [FLOW-7]', async () => {
    const office = await opened(1);
    await office.host(client('a'), 'test/Trained@1', { work_ms: null });
    const enqueue = (value: object) => office.host(line, 'flow/Enqueue@1', value as never);
    expect(await enqueue({ item: 'x', value: 1 })).toBe('no_owner');
    expect(await enqueue({ item: 'x', value: 'é'.repeat(5_000), reply_to: [...client('a')] })).toBe('value_too_large');
    expect(await office.host(line, 'flow/OpenQueue@1', { limit: 9, paused: false })).toBe('already_open');
    expect(await enqueue({ item: 'x', value: 1, reply_to: [...client('a')] })).toBeUndefined();
    expect(await office.host(line, 'flow/CloseQueue@1', {})).toBe('not_empty');
    for (const name of ['flow/LimitQueue@1', 'flow/PauseQueue@1', 'flow/ResumeQueue@1', 'flow/CloseQueue@1']) {
      await office.by('b', line, name, name === 'flow/LimitQueue@1' ? { limit: 9 } : {});
    }
    expect((await office.heard('b')).map(({ name }) => name)).toEqual(Array(4).fill('not_yours'));
    expect(await office.host(line, 'flow/CancelItem@1', { item: 'x' })).toBeUndefined();
    expect(await office.host(line, 'flow/CloseQueue@1', {})).toBeUndefined();
    expect(await (await office.world()).state(line)).toBeUndefined();
    await office.close();
  });

  it('a queue can be tested alone', () => {
    givenReducer(queue)
      .events({ name: 'flow/OpenQueue@1', value: { limit: 1, paused: true } })
      .when({ name: 'flow/Enqueue@1', value: { item: 'x', value: 1, reply_to: [...client('a')] } })
      .then({
        sends: [],
        tables: {
          running: {},
          items: {
            x: {
              at: '000001000000.000000000000',
              running: false,
              owner: [...client('a')],
              by: null,
              due: null,
            },
          },
        },
      });
  });
});
