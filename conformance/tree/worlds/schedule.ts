/** Random schedules of real worlds, and what a model says in them. */
import type { Value } from '@reprise/contracts';
import type { ScriptStep } from '@reprise/providers';
import fc from 'fast-check';
import type { Terms } from '../oracle/node.js';
import type { Oracle } from '../oracle/oracle.js';
import type { HeldCall } from './hands.js';

const KINDS = {
  say: 60,
  Answer: 3,
  Stop: 1,
  Pause: 2,
  Resume: 2,
  Retry: 3,
  Add: 2,
  Modify: 2,
  Limit: 1,
  Tell: 1,
  time: 2,
  crash: 3,
} as const;

/** What may happen in a world. */
export type WorldKind = keyof typeof KINDS;

/** One step: what is done, and three choices. */
export type WorldStep = readonly [kind: WorldKind, a: number, b: number, c: number];

/** A world with a tree, and what happens to it. */
export interface WorldSchedule {
  readonly terms: Terms;
  readonly people: 'human' | 'default' | 'fail';
  readonly budget: {
    readonly unit: 'tokens' | 'usd' | null;
    readonly node: number | null;
    readonly tree: number | null;
  };
  readonly steps: readonly WorldStep[];
}

const kinds = (Object.keys(KINDS) as WorldKind[]).flatMap((kind) => Array.from({ length: KINDS[kind] }, () => kind));

const step = fc.tuple(fc.constantFrom(...kinds), fc.nat(7), fc.nat(7), fc.nat(7));

/** Random schedules of worlds. */
export const worldSchedules: fc.Arbitrary<WorldSchedule> = fc.record({
  terms: fc.record({
    nodes: fc.integer({ min: 4, max: 24 }),
    depth: fc.integer({ min: 2, max: 4 }),
    children: fc.integer({ min: 2, max: 5 }),
    parallel: fc.integer({ min: 1, max: 4 }),
    generations: fc.integer({ min: 1, max: 3 }),
    attempts: fc.integer({ min: 1, max: 3 }),
    asks: fc.integer({ min: 1, max: 3 }),
  }),
  people: fc.constantFrom('human' as const, 'human' as const, 'human' as const, 'default' as const, 'fail' as const),
  budget: fc.record({
    unit: fc.constantFrom(null, null, 'tokens' as const, 'usd' as const),
    node: fc.option(fc.integer({ min: 8, max: 60 })),
    tree: fc.option(fc.integer({ min: 20, max: 150 })),
  }),
  steps: fc.array(step, { minLength: 8, maxLength: 56, size: 'max' }),
});

/** The goal of nodes that models make. */
const WORK = { goal: 'a part', prompt: 'Do your part.' };

/** What a model says to a request, by three choices. */
export function saying(oracle: Oracle, { n, last, tools }: HeldCall, [b, c]: readonly [number, number]): ScriptStep {
  const usage = { tokens_in: 20 + 400 * c, tokens_out: 5 + 50 * b };
  if (last.includes('"accepted":true') && b !== 7) return { text: 'Done.', usage };
  const step = stepOf(oracle, n, b, c);
  const known = (step.calls ?? []).filter(({ tool }) => tools.includes(tool));
  return known.length < (step.calls ?? []).length && known.length === 0
    ? { text: 'It is done.', usage }
    : { ...step, usage };
}

function stepOf(oracle: Oracle, n: number, b: number, c: number): ScriptStep {
  const { length } = oracle.nodes;
  const other = 1 + ((b * 5 + c * 3) % length);
  const asked = oracle.nodes.find(({ question }) => question?.how === null && question.route.includes(n));
  if (asked?.question != null && c > 1) {
    const [option = 'as you like'] = asked.question.options.slice(c % 2);
    return call('answer', { ask_id: asked.n, value: option });
  }
  switch (b) {
    case 0:
      return c < 4
        ? { text: 'It is done.' }
        : {
            calls: [
              { tool: 'spawn', args: WORK },
              { tool: 'fork', args: WORK },
            ],
          };
    case 1:
    case 2: {
      const one = {
        tool: c % 3 === 2 ? 'fork' : 'spawn',
        args: { ...WORK, ...needs(c, other), priority: (c % 3) - 1 },
      };
      return { calls: b === 1 ? [one] : [one, { tool: 'spawn', args: { ...WORK, ...needs(7 - c, length) } }] };
    }
    case 3: {
      const steps = Array.from({ length: 1 + (c % 3) }, () => WORK);
      return call('serial', { goal: 'steps', steps, ...(c > 5 ? { result: 'list' } : {}) });
    }
    case 4:
      return call('complete', c === 7 ? {} : c === 6 ? { result: ' ' } : { result: `the result of ${n}` });
    case 5:
      return call('ask', question(c, other));
    case 6:
      if (c < 2) return call('stop', { node_id: other });
      return c < 4 ? { fail: 'provider_error_terminal' } : call('complete', { result: 'early' });
    default:
      return c < 4 ? { text: 'One more thing.' } : call('read_tree', {});
  }
}

function call(tool: string, args: Value): ScriptStep {
  return { calls: [{ tool, args }] };
}

function needs(c: number, node: number): Readonly<Record<string, Value>> {
  if (c < 3) return {};
  return { blocked_by: [c < 6 ? node : { node, on_failure: 'continue' }] };
}

function question(c: number, other: number): Value {
  const target = ['human', 'parent', 'children', other, 'parent', 'human', 'children', 'parent'][c] ?? 'human';
  const options = c % 2 === 0 ? { options: ['a', 'b'] } : {};
  const given = c === 2 || c === 6 ? { default: 'a' } : {};
  return { question: 'What now?', target, ...options, ...given, ...(c >= 4 ? { deadline_seconds: 600 } : {}) };
}
