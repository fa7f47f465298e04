import type { Address, Value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GRAPH } from '../../src/pure/flow/index.js';
import { circleIn } from '../../src/pure/kit/graph.js';
import { GraphModel, type PlainNode } from './support/graph-model.js';
import { client, Office } from './support/office.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
const plan: Address = [GRAPH, 'plan'];
const NODES = 14;

type Step =
  | { readonly do: 'add'; readonly count: number }
  | { readonly do: 'finish'; readonly which: number; readonly ok: boolean }
  | { readonly do: 'retry'; readonly which: number }
  | { readonly do: 'cancel'; readonly which: number }
  | { readonly do: 'skip'; readonly which: number }
  | { readonly do: 'limit'; readonly limit: number | null };

const which = fc.nat(NODES - 1);
const limits = fc.constantFrom(null, 0, 1, 2, 3);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('add' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constant('finish' as const), which, ok: fc.constantFrom(true, true, false) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retry' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('skip' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), limit: limits }) },
);

/** Nodes that need only nodes before them. */
const graphs: fc.Arbitrary<PlainNode[]> = fc
  .array(
    fc.record({
      needs: fc.array(fc.nat(), { maxLength: 3 }),
      priority: fc.integer({ min: -1, max: 1 }),
      resolve: fc.constantFrom('all' as const, 'all' as const, 'any' as const),
      on_failure: fc.constantFrom('wait' as const, 'cascade' as const, 'ignore' as const),
    }),
    { minLength: NODES, maxLength: NODES },
  )
  .map((list) =>
    list.map((node, i) => ({
      ...node,
      node: `n${i}`,
      needs: i === 0 ? [] : [...new Set(node.needs.map((n) => `n${n % i}`))],
      fails: false,
    })),
  );

const written = ({ fails: _, ...node }: PlainNode) => ({ ...node, value: node.node });

/** How a mutant of the model departs: in the nodes that it adds, and in the state of a node that a command skips. */
interface Mutant {
  readonly nodes?: (nodes: readonly PlainNode[]) => PlainNode[];
  readonly skipped?: string;
  /** What it hears of the skips. */
  readonly heard?: (skips: readonly Skip[]) => readonly Skip[];
}

interface Skip {
  readonly node: string;
  readonly for: string | null;
}

async function holdModel(
  nodes: readonly PlainNode[],
  list: readonly Step[],
  limit: number | null,
  mutant: Mutant,
): Promise<void> {
  const departed = mutant.nodes ?? ((more) => [...more]);
  const office = new Office();
  await office.host(client('owner'), 'test/Trained@1', { work_ms: null, fails: [] });
  await office.host(plan, 'flow/OpenGraph@1', { limit, reply_to: [...client('owner')] });
  const model = new GraphModel(limit);
  let added = 0;
  for (const step of [...list, { do: 'add', count: NODES } as const]) {
    switch (step.do) {
      case 'add': {
        const more = nodes.slice(added, added + step.count);
        added += more.length;
        if (more.length > 0) await office.host(plan, 'flow/AddNodes@1', { nodes: more.map(written) });
        await office.settle();
        model.add(departed(more));
        break;
      }
      case 'limit':
        await office.host(plan, 'flow/LimitGraph@1', { limit: step.limit });
        model.limit = step.limit;
        model.settle();
        break;
      default:
        await change(office, model, step, mutant.skipped);
    }
    await office.settle();
  }
  const heard = await office.heard('owner');
  const handed = heard.filter(({ name }) => name === 'flow/NodeReady@1').map(({ value }) => nodeOf(value));
  expect(handed).toEqual(model.handed);
  const skips = heard.filter(({ name }) => name === 'flow/NodeSkipped@1').map(({ value }) => value as unknown as Skip);
  holdSkips(mutant.heard?.(skips) ?? skips, model);
  const states = (await office.table(plan, 'nodes')).map(([node, known]) => [node, (known as { state: string }).state]);
  expect(Object.fromEntries(states)).toEqual(Object.fromEntries(shown(model)));
  await office.close();
}

const nodeOf = (value: Value): string => (value as { readonly node: string }).node;

const shown = (model: GraphModel): [string, string][] =>
  [...model.states].map(([node, state]) => [node, state === 'passed' ? 'skipped' : state]);

/** The owner heard once of each skipped node, and because of which dependency; of that one earlier, when it was skipped. */
function holdSkips(skips: readonly Skip[], model: GraphModel): void {
  const skipped = [...model.states].filter(([, state]) => state === 'skipped' || state === 'passed');
  expect(skips.map(({ node }) => node).sort()).toEqual(skipped.map(([node]) => node).sort());
  for (const [i, { node, for: because }] of skips.entries()) {
    if (because === null) {
      expect(model.states.get(node)).toBe('passed');
      continue;
    }
    expect(model.needsOf(node)).toContain(because);
    const cause = skips.findIndex((one) => one.node === because);
    if (model.states.get(because) === 'skipped') expect(cause).toBeLessThan(i);
  }
}

async function change(
  office: Office,
  model: GraphModel,
  step: Extract<Step, { which: number }>,
  skipped = 'passed',
): Promise<void> {
  const node = `n${step.which}`;
  const known = model.states.has(node);
  if (step.do === 'finish') {
    const code = await office.host(plan, 'flow/FinishNode@1', { node, ok: step.ok });
    const changed = model.change(node, ['running'], step.ok ? 'done' : 'failed');
    expect(code).toBe(changed ? undefined : known ? 'not_running' : 'node_unknown');
  } else if (step.do === 'retry') {
    const code = await office.host(plan, 'flow/RetryNode@1', { node });
    expect(code).toBe(model.change(node, ['failed'], 'ready') ? undefined : known ? 'not_failed' : 'node_unknown');
  } else if (step.do === 'skip') {
    const code = await office.host(plan, 'flow/SkipNode@1', { node });
    const before = model.states.get(node);
    const changed = model.change(node, ['pending', 'ready', 'failed'], skipped);
    const refused = before === 'running' ? 'is_running' : known ? 'has_ended' : 'node_unknown';
    expect(code).toBe(changed ? undefined : refused);
  } else {
    await office.by('owner', plan, 'flow/CancelNode@1', { node });
    model.change(node, ['pending', 'ready', 'running'], 'cancelled');
  }
}

describe(`a graph (seed ${SEED})`, () => {
  const law = (mutant: Mutant) =>
    fc.asyncProperty(graphs, fc.array(steps, { maxLength: 30, size: 'max' }), limits, async (nodes, list, limit) => {
      const mine = list.filter((step) => step.do !== 'cancel'); // what the owner is told about those is looked at below
      await holdModel(nodes, mine, limit, mutant);
    });

  it('a graph starts the same nodes in the same order as a plain model, ends in the same states and tells of the same skips [FLOW-5, FLOW-9]', async () => {
    await fc.assert(law({}), { seed: SEED, numRuns: 40 });
  });

  it.each<[string, Mutant]>([
    ['takes any for all', { nodes: (nodes) => nodes.map((node) => ({ ...node, resolve: 'all' })) }],
    ['ignores every failure', { nodes: (nodes) => nodes.map((node) => ({ ...node, on_failure: 'ignore' })) }],
    ['forgets priorities', { nodes: (nodes) => nodes.map((node) => ({ ...node, priority: 0 })) }],
    ['loses a need', { nodes: (nodes) => nodes.map((node) => ({ ...node, needs: node.needs.slice(1) })) }],
    ['takes a skip by command for a failure', { skipped: 'skipped' }],
    ['hears nothing of a cascade', { heard: (skips) => skips.filter((skip) => skip.for === null) }],
    ['hears of a skip twice', { heard: (skips) => [...skips, ...skips.slice(0, 1)] }],
    ['confuses causes', { heard: (skips) => skips.map((skip) => ({ ...skip, for: 'n0' })) }],
  ])('a mutant of the model that %s is found', async (_, mutant) => {
    const found = await fc.check(law(mutant), { seed: SEED, numRuns: 60, endOnFailure: true });
    expect(found.failed).toBe(true);
  });

  it('a graph refuses invalid nodes, and names the nodes of a cycle [FLOW-6]', async () => {
    const office = new Office();
    await office.host(plan, 'flow/OpenGraph@1', {});
    const add = (...nodes: [string, ...string[]][]) =>
      office.host(plan, 'flow/AddNodes@1', { nodes: nodes.map(([node, ...needs]) => ({ node, needs, value: null })) });
    expect(await add(['a', 'b'], ['b', 'c'], ['c', 'a'])).toBe('cycle/a/b/c/a');
    expect(await add(['a', 'a'])).toBe('cycle/a/a');
    expect(await add(['x'], ['x'])).toBe('node_known');
    expect(await add(['x', 'nobody'])).toBe('need_unknown');
    expect(await add(['x', 'y', 'y'], ['y'])).toBe('need_repeated');
    expect(await add(['x'], ['y', 'x'])).toBeUndefined();
    expect(await add(['x'])).toBe('node_known');
    const long = Array.from({ length: 40 }, (_, i): [string, string] => [`n${i}`, `n${(i + 1) % 40}`]);
    expect(await add(...long)).toMatch(/^cycle\/n0\/n1\/.{1,57}$/);
    const wide = Array.from({ length: 40 }, (_, i): [string, ...string[]] => [
      `w${i}`,
      ...(i < 20 ? [] : long.map(([n]) => n)),
    ]);
    expect(await add(...long.map(([node]): [string] => [node]))).toBeUndefined();
    expect(await add(...wide)).toBe('too_many_needs');
    expect(await office.host(plan, 'flow/OpenGraph@1', {})).toBe('already_open');
    expect(await office.host(plan, 'flow/SealGraph@1', {})).toBeUndefined();
    expect(await add(['z'])).toBe('sealed');
    for (const name of ['flow/SealGraph@1', 'flow/LimitGraph@1']) {
      await office.by('b', plan, name, name === 'flow/LimitGraph@1' ? { limit: 1 } : {});
    }
    expect((await office.heard('b')).map(({ name }) => name)).toEqual(['not_yours', 'not_yours']);
    await office.close();
  });

  it('a graph notifies its owner of nodes that others cancel, and once when nothing can continue, again after a retry', async () => {
    const office = new Office();
    await office.by('owner', plan, 'flow/OpenGraph@1', {});
    const node = (name: string, ...needs: string[]) => ({ node: name, needs, value: 1, on_failure: 'wait' });
    const nodes = [node('a'), node('b'), node('c', 'a')];
    await office.by('owner', plan, 'flow/AddNodes@1', { nodes });
    await office.settle();
    await office.host(plan, 'flow/CancelNode@1', { node: 'b' });
    await office.by('owner', plan, 'flow/FinishNode@1', { node: 'a', ok: false });
    await office.by('owner', plan, 'flow/SealGraph@1', {});
    await office.by('owner', plan, 'flow/RetryNode@1', { node: 'a' });
    await office.by('owner', plan, 'flow/FinishNode@1', { node: 'a', ok: true });
    await office.by('owner', plan, 'flow/CancelNode@1', { node: 'c' });
    const heard = (await office.heard('owner')).map(({ name, value }) => {
      const { node: about, done, cancelled, pending } = value as Record<string, number | string>;
      return about === undefined ? `${name} ${done} ${cancelled} ${pending}` : `${name} ${about}`;
    });
    expect(heard).toEqual([
      'flow/NodeReady@1 a',
      'flow/NodeReady@1 b',
      'flow/NodeCancelled@1 b',
      'flow/GraphSettled@1 0 1 1',
      'flow/NodeReady@1 a',
      'flow/NodeReady@1 c',
      'flow/GraphSettled@1 1 2 0',
    ]);
    await office.close();
  });

  it('a graph with a thousand dependents of one node updates them in several frames and starts them by priority', async () => {
    const office = new Office();
    await office.host(client('owner'), 'test/Trained@1', { work_ms: 0, fails: [] });
    await office.host(plan, 'flow/OpenGraph@1', { limit: 0, reply_to: [...client('owner')] });
    await office.host(plan, 'flow/AddNodes@1', { nodes: [{ node: 'root', value: null }] });
    for (let from = 0; from < 1_000; from += 250) {
      const nodes = Array.from({ length: 250 }, (_, i) => ({
        node: `n${from + i}`,
        needs: ['root'],
        priority: i % 2,
        value: null,
      }));
      await office.host(plan, 'flow/AddNodes@1', { nodes });
    }
    await office.host(plan, 'flow/SealGraph@1', {});
    await office.host(plan, 'flow/LimitGraph@1', { limit: 1 });
    await office.host(plan, 'flow/LimitGraph@1', { limit: 0 });
    await office.settle();
    await office.host(plan, 'flow/LimitGraph@1', { limit: 4 });
    await office.rest();
    const heard = await office.heard('owner');
    expect(heard.length).toBe(1_002);
    const numbers = heard.slice(1, -1).map(({ value }) => Number((value as { node: string }).node.slice(1)));
    expect(numbers.slice(0, 500).every((n) => n % 2 === 1)).toBe(true);
    expect(numbers.slice(0, 500)).toEqual(numbers.slice(0, 500).toSorted((a, b) => a - b));
    await office.close();
  });
});

describe('a search for circles', () => {
  it('the search finds no cycle when every node needs only earlier nodes, and finds one wherever an edge leads back', () => {
    const edges = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 40 });
    const law = fc.property(edges, fc.tuple(fc.nat(20), fc.nat(20)), (list, [a, b]) => {
      const needs = new Map<string, string[]>(Array.from({ length: 21 }, (_, i) => [`${i}`, []]));
      for (const [x, y] of list) if (x > y) needs.get(`${x}`)?.push(`${y}`);
      expect(circleIn(needs)).toBeUndefined();
      const chain = Array.from({ length: Math.abs(a - b) }, (_, i) => Math.min(a, b) + i);
      for (const i of chain) needs.get(`${i + 1}`)?.push(`${i}`);
      needs.get(`${Math.min(a, b)}`)?.push(`${Math.max(a, b)}`);
      const found = circleIn(needs) as string[];
      expect(found[0]).toBe(found.at(-1));
      for (let i = 0; i + 1 < found.length; i++) expect(needs.get(found[i] as string)).toContain(found[i + 1]);
    });
    fc.assert(law, { seed: SEED, numRuns: 200 });
  });
});
