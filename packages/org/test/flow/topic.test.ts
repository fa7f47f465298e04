import type { Address, Value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TOPIC_WAITING_MAX } from '../../src/pure/flow/bounds.js';
import { TOPIC } from '../../src/pure/flow/index.js';
import { client, deaf, type Heard, Office } from './support/office.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
const news: Address = [TOPIC, 'news'];
const RETAIN = 4;

interface Filter {
  readonly name?: string;
  readonly where: readonly (readonly [string, number | null])[];
}

type Step =
  | { readonly do: 'publish'; readonly name: string; readonly k: number | null }
  | {
      readonly do: 'subscribe';
      readonly by: string;
      readonly filter: Filter;
      readonly from: number | null;
      readonly named: boolean;
    }
  | { readonly do: 'unsubscribe'; readonly by: string; readonly named: boolean };

const clients = fc.constantFrom('a', 'b', 'c');
const filters: fc.Arbitrary<Filter> = fc.record(
  {
    name: fc.constantFrom('m', 'n'),
    where: fc.array(fc.tuple(fc.constantFrom('k', 'absent', 'toString'), fc.constantFrom(null, 0, 1)), {
      maxLength: 1,
    }),
  },
  { requiredKeys: ['where'] },
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      name: fc.constantFrom('m', 'n'),
      k: fc.constantFrom(null, 0, 1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      by: clients,
      filter: filters,
      from: fc.constantFrom(null, null, 0, 3, 9),
      named: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unsubscribe' as const), by: clients, named: fc.boolean() }) },
);

/** A topic as a plain program. */
class Model {
  readonly heard = new Map<string, number[]>();
  readonly #published: { readonly name: string; readonly k: number | null }[] = [];
  readonly #subscribed = new Map<string, { readonly filter: Filter; readonly from: number }>();

  step(step: Step): void {
    if (step.do === 'unsubscribe') this.#subscribed.delete(step.by);
    else if (step.do === 'publish') {
      const cursor = this.#published.push(step) - 1;
      for (const [who, { filter, from }] of this.#subscribed) if (from <= cursor) this.#tell(who, filter, cursor);
    } else {
      const next = this.#published.length;
      const from = step.from ?? this.#subscribed.get(step.by)?.from ?? next;
      this.#subscribed.set(step.by, { filter: step.filter, from: step.from === null ? from : Math.max(from, next) });
      if (step.from === null) return;
      for (let cursor = Math.max(from, next - RETAIN); cursor < next; cursor++)
        this.#tell(step.by, step.filter, cursor);
    }
  }

  #tell(who: string, { name, where }: Filter, cursor: number): void {
    const one = this.#published[cursor] as { readonly name: string; readonly k: number | null };
    if (name !== undefined && name !== one.name) return;
    if (where.some(([field, wanted]) => field !== 'k' || wanted !== one.k)) return;
    this.heard.set(who, [...(this.heard.get(who) ?? []), cursor]);
  }
}

const cursorsOf = (heard: readonly Heard[]): number[] =>
  heard.map(({ value }) => (value as { readonly cursor: number }).cursor);

async function execute(office: Office, step: Step): Promise<void> {
  if (step.do === 'publish') {
    const { name, k } = step;
    return void (await office.host(news, 'flow/Publish@1', { name, value: { k } }));
  }
  const send = (name: string, value: Record<string, Value>) =>
    step.named // the owner of the topic names the subscriber; otherwise the subscriber sends
      ? office.by('owner', news, name, { ...value, subscriber: [...client(step.by)] })
      : office.by(step.by, news, name, value);
  if (step.do === 'unsubscribe') return send('flow/Unsubscribe@1', {});
  const from = step.from === null ? {} : { from: step.from };
  return send('flow/Subscribe@1', { filter: step.filter as unknown as Value, ...from });
}

type Mutant = (model: Model, step: Step) => void;

const law = (mutant: Mutant) =>
  fc.asyncProperty(fc.array(steps, { maxLength: 35, size: 'max' }), async (list) => {
    const office = new Office();
    await office.by('owner', news, 'flow/OpenTopic@1', { retain: RETAIN });
    for (const key of ['a', 'b', 'c']) await office.host(client(key), 'test/Trained@1', { work_ms: null });
    const model = new Model();
    for (const step of list) {
      await execute(office, step);
      await office.settle();
      mutant(model, step);
    }
    for (const key of ['a', 'b', 'c']) expect(cursorsOf(await office.heard(key))).toEqual(model.heard.get(key) ?? []);
    expect((await office.table(news, 'backlog')).length).toBeLessThanOrEqual(RETAIN);
    expect(await office.table(news, 'behind')).toEqual([]);
    await office.close();
  });

const opened = async (retain = 0): Promise<Office> => {
  const office = new Office();
  await office.host(news, 'flow/OpenTopic@1', { retain });
  return office;
};

const publish = (office: Office, value: Value) => office.host(news, 'flow/Publish@1', { name: 'n', value });

describe(`a topic (seed ${SEED})`, () => {
  it('a topic publishes to each subscriber like a plain model, for any sequence of commands of subscribers and of the owner [FLOW-4, FLOW-10]', async () => {
    await fc.assert(
      law((model, step) => model.step(step)),
      { seed: SEED, numRuns: 30 },
    );
  });

  it.each<[string, Mutant]>([
    [
      'forgets filters',
      (model, step) => model.step(step.do === 'subscribe' ? { ...step, filter: { where: [] } } : step),
    ],
    ['keeps nothing', (model, step) => model.step(step.do === 'subscribe' ? { ...step, from: null } : step)],
    ['ignores the owner', (model, step) => ('named' in step && step.named ? undefined : model.step(step))],
    ['never unsubscribes', (model, step) => (step.do === 'unsubscribe' ? undefined : model.step(step))],
  ])('a mutant of the model that %s is found', async (_, mutant) => {
    const found = await fc.check(law(mutant), { seed: SEED, numRuns: 60, endOnFailure: true });
    expect(found.failed).toBe(true);
  });

  it('a topic with more subscribers than fit in a frame publishes in several frames; later subscribers get what they requested [FLOW-4]', async () => {
    const office = await opened(10);
    for (let i = 0; i < 300; i++) await office.by(`s${i}`, news, 'flow/Subscribe@1', {});
    await publish(office, 'x'.repeat(4_000));
    await publish(office, 1);
    await office.by('late', news, 'flow/Subscribe@1', {});
    await office.by('keen', news, 'flow/Subscribe@1', { from: 0 });
    await publish(office, 2);
    expect(cursorsOf(await office.heard('s299'))).toEqual([]);
    await office.rest();
    for (let i = 0; i < 300; i++) expect(cursorsOf(await office.heard(`s${i}`))).toEqual([0, 1, 2]);
    expect(cursorsOf(await office.heard('late'))).toEqual([2]);
    expect(cursorsOf(await office.heard('keen'))).toEqual([0, 1, 2]);
    await office.close();
  });

  it('a topic catches up over many frames without delaying the others', async () => {
    const office = await opened(400);
    await office.by('live', news, 'flow/Subscribe@1', {});
    for (let i = 0; i < 300; i++) await publish(office, 'x'.repeat(3_000));
    await office.by('keen', news, 'flow/Subscribe@1', { from: 5 });
    await publish(office, 'new');
    expect(cursorsOf(await office.heard('live')).at(-1)).toBe(300);
    expect(cursorsOf(await office.heard('keen')).at(-1)).toBeLessThan(300);
    await office.rest();
    expect(cursorsOf(await office.heard('keen'))).toEqual(Array.from({ length: 296 }, (_, i) => i + 5));
    await office.close();
  });

  it('a topic drops subscribers that have ended or take nothing, reports so, and continues', async () => {
    const office = await opened();
    await office.by('gone', news, 'flow/Subscribe@1', {});
    await office.host(deaf('d'), 'test/Told@1', { to: [...news], name: 'flow/Subscribe@1', value: {} });
    await office.by('here', news, 'flow/Subscribe@1', {});
    await office.host(client('gone'), 'test/Quit@1', {});
    await publish(office, 1);
    await publish(office, 2);
    await office.rest();
    expect(cursorsOf(await office.heard('here'))).toEqual([0, 1]);
    expect((await office.table(news, 'subscribers')).length).toBe(1);
    const dropped = (await office.records()).flatMap((record) =>
      record.kind === 'fact' && record.name === 'flow/SubscriberDropped@1'
        ? [(record.value as { code: string }).code]
        : [],
    );
    expect(dropped.sort()).toEqual(['cell_absent', 'event_unknown']);
    await office.close();
  });

  it('a topic lets only its owner subscribe and unsubscribe others [FLOW-10]', async () => {
    const office = new Office();
    await office.by('owner', news, 'flow/OpenTopic@1', {});
    const subscriber = [...client('member')];
    await office.host(client('member'), 'test/Trained@1', { work_ms: null });
    await office.by('other', news, 'flow/Subscribe@1', { subscriber });
    await publish(office, 1);
    await office.by('owner', news, 'flow/Subscribe@1', { subscriber });
    await office.by('other', news, 'flow/Unsubscribe@1', { subscriber });
    await office.by('member', news, 'flow/Subscribe@1', { subscriber, filter: { name: 'n' } });
    await publish(office, 2);
    await office.by('owner', news, 'flow/Unsubscribe@1', { subscriber });
    await publish(office, 3);
    expect((await office.heard('other')).map(({ name }) => name)).toEqual(['not_yours', 'not_yours']);
    expect(cursorsOf((await office.heard('member')).filter(({ name }) => name === 'flow/Published@1'))).toEqual([1]);
    await office.close();
  });

  it('a topic refuses values that are too large, and commands that the sender may not send [FLOW-7]', async () => {
    const office = await opened();
    expect(await publish(office, 'é'.repeat(5_000))).toBe('value_too_large');
    expect(await office.host(news, 'flow/Subscribe@1', {})).toBe('no_cell');
    expect(await office.host(news, 'flow/OpenTopic@1', { retain: 1 })).toBe('already_open');
    for (let i = 0; i < 200; i++) await office.by(`s${i}`, news, 'flow/Subscribe@1', {});
    for (let i = 0; i < TOPIC_WAITING_MAX; i++) await publish(office, i);
    expect(await publish(office, 'one more')).toBe('too_many_waiting');
    expect(await office.host(news, 'flow/CloseTopic@1', {})).toBe('not_delivered');
    await office.by('b', news, 'flow/CloseTopic@1', {});
    expect((await office.heard('b')).map(({ name }) => name)).toEqual(['not_yours']);
    await office.close();
  });
});
