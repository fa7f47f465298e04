/**
 * Taking a right away from very many open effects, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/revocation.ts [--effects 1000,5000,20000]
 *
 * For each size: all effects end before the first plan goes on, every plan is told and ends well, nothing faults, no
 * frame is larger than some megabytes, and the journal verifies. What one effect costs must not grow with their number.
 * Time is that of the processor, which other programs do not change.
 */
import { parseArgs } from 'node:util';
import { memory, openKernelWorld, type Store, verifyStore, type World } from '../../packages/kernel/src/index.js';
import { framesOf } from '../../packages/kernel/test/support/judge.js';
import { add, ask, cell, lab, numberOf, once, sendMany, start, when } from '../../packages/kernel/test/support/lab.js';

const EACH = 20;
const FRAME_BYTES_MAX = 4 * 1024 * 1024;

const { app } = lab({
  *use(input, plan) {
    const { code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    plan.raiseEvent({ name: 'lab/Got@1', value: { what: code ?? 'none', value: null } });
  },
});

const { values: options } = parseArgs({ options: { effects: { type: 'string', default: '1000,5000,20000' } } });

for (const effects of options.effects.split(',').map(Number)) {
  const store = memory();
  const policy = [{ effect: '*', decision: 'require_approval' } as const, { send: '*', decision: 'allow' } as const];
  const world = await openKernelWorld({ store, app, recheckEvery: 0, policy });
  const cells = Math.ceil(effects / EACH);
  await makeEffects(world, cells);
  const before = process.cpuUsage();
  const { seq } = await world.command('sys/SetRights@1', {
    holder: `cell:${cell('lead').join('/')}`,
    grant: { may: { effect: [] } },
  });
  const { user, system } = process.cpuUsage(before);
  const each = ((user + system) / 1_000 / (cells * EACH)).toFixed(3);
  const largest = await check(world, store, { cells, from: seq });
  console.log(`revocation, long form: ${cells * EACH} effects, ${each} ms each, ${largest} bytes in the largest frame`);
}
console.log('revocation, long form: ok');

async function makeEffects(world: World, cells: number): Promise<void> {
  await ask(world, 'lead', [sendMany(cells, 'x', when('cap_denied/revoked', add(1)))]);
  const begin = Array.from({ length: EACH }, (_, n) => start('use', n));
  for (let n = 0; n < cells; n++) await ask(world, `x${n}`, begin);
}

/** @returns the bytes of the largest frame */
async function check(world: World, store: Store, at: { cells: number; from: number }): Promise<number> {
  must((await world.openEffects()).length === 0, 'something is open still');
  for (let n = 0; n < at.cells; n++) must((await numberOf(world, `x${n}`)) === EACH, `x${n} was not told of each`);
  const records = (await framesOf(store)).slice(at.from).flat();
  const lastEnd = records.findLastIndex(({ kind }) => kind === 'settled');
  const firstEnded = records.findIndex(({ kind }) => kind === 'plan_ended');
  must(lastEnd < firstEnded, 'a plan went on while something forbidden was open');
  must(!records.some(({ kind }) => kind === 'fault'), 'something faulted');
  await world.close();
  const reading = await store.openReadonly();
  let largest = 0;
  for await (const { bytes } of reading.journal.read(at.from)) largest = Math.max(largest, bytes.length);
  must(largest <= FRAME_BYTES_MAX, `a frame of ${largest} bytes`);
  await verifyStore(reading, { app });
  await reading.close();
  return largest;
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}
