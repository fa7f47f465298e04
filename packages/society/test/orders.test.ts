/** What an agent missed while its cell had failed holds when it is revived: orders of changes in two worlds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGENTS, CELLS, type Damaged, GROUPS, NOT_JOINED, Scene, type Step } from './support/orders.js';

const SEED = Number(process.env.REPRISE_SEED ?? 36);
/** The long form: `REPRISE_ORDERS=2000 npx vitest run packages/society/test/orders.test.ts`. */
const RUNS = Number(process.env.REPRISE_ORDERS ?? 6);

const agent = fc.constantFrom(...AGENTS);
const group = fc.constantFrom(...GROUPS);
const DAY = 86_400_000;

const change: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    step: fc.constant('tools' as const),
    of: agent,
    tools: fc.constantFrom(['memory_*', 'agent_list'], [], null),
  }),
  fc.record({
    step: fc.constant('reads' as const),
    of: agent,
    visibility: fc.constantFrom(['private' as const], ['private' as const, 'group' as const]),
  }),
  fc.record({
    step: fc.constant('floor' as const),
    of: agent,
    tier: fc.constantFrom('untrusted' as const, 'high' as const),
  }),
  fc.record({
    step: fc.constant('status' as const),
    of: agent,
    to: fc.constantFrom('suspend' as const, 'resume' as const, 'deactivate' as const, 'reactivate' as const),
  }),
  fc.record({
    step: fc.constant('role' as const),
    of: agent,
    group,
    role: fc.constantFrom('viewer' as const, 'member' as const),
  }),
  fc.record({ step: fc.constant('leave' as const), of: agent, group }),
  fc.record({
    step: fc.constant('judge' as const),
    of: agent,
    verdict: fc.constantFrom('right' as const, 'wrong' as const),
    by: fc.constantFrom('maker' as const, 'ann' as const),
  }),
  fc.record({ step: fc.constant('emcon' as const), group, on: fc.boolean() }),
  fc.record({ step: fc.constant('end' as const), group, mode: fc.constantFrom('archive' as const, 'delete' as const) }),
  fc.record({ step: fc.constant('write' as const), by: fc.constantFrom('ben' as const, ...AGENTS), group }),
  fc.constant<Step>({ step: 'return' }),
  fc.record({ step: fc.constant('review' as const), decision: fc.constantFrom('approve' as const, 'reject' as const) }),
  fc.record({ step: fc.constant('wait' as const), ms: fc.constantFrom(60_000, 3_600_000, 2 * DAY) }),
  fc.constant<Step>({ step: 'reopen' }),
);

const cell = fc.constantFrom(...CELLS);
const failure: fc.Arbitrary<Step> = fc.record({ step: fc.constantFrom('fail' as const, 'revive' as const), cell });

/** Changes, some before and most while at least one cell has failed. */
const orders = fc
  .tuple(
    fc.array(change, { maxLength: 2 }),
    cell,
    fc.array(fc.oneof({ weight: 5, arbitrary: change }, { weight: 1, arbitrary: failure }), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map(([before, failing, meanwhile]): readonly Step[] => [...before, { step: 'fail', cell: failing }, ...meanwhile]);

/** The places at which two values differ: in the world with failures, and in the other. */
function differing(failed: unknown, sound: unknown, at = ''): readonly string[] {
  const [one, other] = [JSON.stringify(failed), JSON.stringify(sound)];
  if (one === other) return [];
  const isDeep = [failed, sound].every((value) => typeof value === 'object' && value !== null);
  if (!isDeep) return [`${at}: ${one}, ${other}`];
  const [a, b] = [failed as Record<string, unknown>, sound as Record<string, unknown>];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    differing(a[key], b[key], `${at}/${key}`),
  );
}

/** Whether a step was refused because a cell has failed: nothing of it was done. */
function isUnheard(step: Step, ended: string, down: ReadonlySet<string>): boolean {
  if (ended === 'cell_failed') return true;
  // Where both have failed, an entity further up does not know that the lower one has.
  if (ended === 'agent_unknown') return AGENTS.every((name) => down.has(name));
  return ended === NOT_JOINED && 'of' in step && down.has(step.of);
}

/** Where the two worlds differ; undefined where they do not. */
async function difference(steps: readonly Step[], damaged?: Damaged): Promise<unknown> {
  await using failed = await Scene.open(damaged);
  const done: [Step, string][] = [];
  const down = new Set<string>();
  for (const step of steps) {
    if (step.step === 'wait' && AGENTS.every((name) => down.has(name))) continue; // nobody keeps the time of the bot
    const ended = await failed.take(step);
    if (step.step === 'fail') down.add(step.cell);
    else if (step.step === 'revive') down.delete(step.cell);
    else if (!isUnheard(step, ended, down)) done.push([step, ended]);
  }
  for (const one of CELLS) await failed.take({ step: 'revive', cell: one });
  await using sound = await Scene.open(damaged);
  for (const [step, ended] of done) {
    const without = await sound.take(step);
    if (without !== ended) return { step, failed: ended, sound: without };
  }
  const [one, other] = [await failed.asked(), await sound.asked()];
  const places = differing(one, other);
  if (places.length > 0) return { done, places };
  for (const name of AGENTS) {
    const [shown, without] = [await failed.shown(name), await sound.shown(name)];
    if (typeof shown === 'string' || typeof without === 'string') {
      if (shown !== without) return { name, failed: shown, sound: without };
    } else if (!shown.every((word) => without.includes(word))) return { name, failed: shown, sound: without };
  }
  return undefined;
}

describe('an agent that is revived', () => {
  it(`in ${RUNS} random orders of changes, a world in which cells failed and were revived answers as one in which none did; the adversary is a failed cell [SOC-640], seed ${SEED}`, async () => {
    await fc.assert(
      fc.asyncProperty(orders, async (steps) => {
        expect(await difference(steps)).toBeUndefined();
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
