/**
 * Effect's workflow engine in memory: a shop's order runs up to a gate, then its code changes, the gate opens, and the engine
 * runs the body again over the results that it kept. Prints, by row of the divergence matrix, what came of it. Run by
 * `scripts/long/comparisons.ts` in a folder that has the package.
 */
import { Cause, Effect, Exit, Layer, Schema } from 'effect';
import { Activity, DurableDeferred, Workflow, WorkflowEngine } from 'effect/workflow';

const bill = { cents: 800, order: 'a' };
const letter = { to: 'desk', text: 'order a: 800' };
const performed = [];
let calls = 0;

const activity = (name, input, result) =>
  Activity.make({
    name,
    success: Schema.Unknown,
    execute: Effect.sync(() => {
      performed.push([name, input]);
      return result;
    }),
  });
const charge = (input) => activity('charge', input, { id: 'c-800' });
const refund = (input) => activity('refund', input, { id: 'r-800' });
const mail = (input) => activity('mail', input, { sent: true });
const gate = DurableDeferred.make('gate');

function* sound() {
  const { id } = yield* charge(bill);
  yield* mail(letter);
  yield* DurableDeferred.await(gate);
  return { ok: true, id };
}

const MUTANTS = {
  'what was recorded': sound,
  'changed code: effect parameters': function* () {
    const { id } = yield* charge({ ...bill, cents: 801 });
    yield* mail(letter);
    yield* DurableDeferred.await(gate);
    return { ok: true, id };
  },
  'changed code: effects in another order': function* () {
    yield* mail(letter);
    const { id } = yield* charge(bill);
    yield* DurableDeferred.await(gate);
    return { ok: true, id };
  },
  'changed code: another effect': function* () {
    const { id } = yield* refund(bill);
    yield* mail(letter);
    yield* DurableDeferred.await(gate);
    return { ok: true, id };
  },
  'changed code: an effect too many': function* () {
    const { id } = yield* charge(bill);
    yield* activity('second mail', letter, { sent: true });
    yield* mail(letter);
    yield* DurableDeferred.await(gate);
    return { ok: true, id };
  },
  'changed code: an effect too few': function* () {
    const { id } = yield* charge(bill);
    yield* DurableDeferred.await(gate);
    return { ok: true, id };
  },
  'changed code: what is made of a receipt': function* () {
    const { id } = yield* charge(bill);
    yield* mail(letter);
    yield* DurableDeferred.await(gate);
    return { ok: id.length > 9, id };
  },
  'changed code: a plan’s input': function* () {
    const { id } = yield* charge({ ...bill, cents: bill.cents / 2 });
    yield* mail(letter);
    yield* DurableDeferred.await(gate);
    return { ok: true, id };
  },
};
const ambient = (seen) =>
  function* () {
    const { id } = yield* charge(bill);
    seenBy.push(seen() ?? null);
    yield* mail(letter);
    yield* DurableDeferred.await(gate);
    return { ok: true, id };
  };
const seenBy = [];
const AMBIENT = {
  'ambient: chance': ambient(() => Math.random()),
  'ambient: a random identifier': ambient(() => crypto.randomUUID()),
  'ambient: the clock': ambient(() => Date.now()),
  'ambient: the hour of a date': ambient(() => new Date(86_400_000).getHours()),
  'ambient: the time zone': ambient(() => Intl.DateTimeFormat().resolvedOptions().timeZone),
  'ambient: the time since the process began': ambient(() => performance.now()),
  'ambient: the environment': ambient(() => process.env.REGION),
  'ambient: a counter of the module': ambient(() => ++calls),
};

/** Runs an order up to the gate under one code, and on under another. */
async function replay(row, before, after) {
  let code = before;
  const order = Workflow.make(`order ${row}`, {
    payload: { id: Schema.String },
    success: Schema.Unknown,
    idempotencyKey: ({ id }) => id,
  });
  const registered = order.toLayer(() => Effect.gen(() => code()));
  const engine = Layer.provideMerge(registered, WorkflowEngine.layerMemory);
  performed.length = 0;
  seenBy.length = 0;
  let recorded = [];
  const program = Effect.gen(function* () {
    const executionId = yield* order.execute({ id: 'a' }, { discard: true });
    yield* Effect.sleep('50 millis');
    recorded = performed.splice(0);
    code = after;
    Object.assign(process.env, { REGION: 'south', TZ: 'Pacific/Apia' });
    const token = DurableDeferred.tokenFromExecutionId(gate, { workflow: order, executionId });
    yield* DurableDeferred.succeed(gate, { token, value: undefined });
    return yield* order.execute({ id: 'a' });
  });
  Object.assign(process.env, { REGION: 'north', TZ: 'UTC' });
  const exit = await Effect.runPromiseExit(Effect.provide(Effect.timeout(program, '5 seconds'), engine));
  const end = Exit.isSuccess(exit)
    ? { said: null, result: exit.value }
    : { said: Cause.pretty(exit.cause).split('\n')[0] };
  return {
    ...end,
    performed: recorded,
    performedAgain: [...performed],
    ...(seenBy.length > 0 ? { seen: [...seenBy] } : {}),
  };
}

const results = {};
for (const [row, mutant] of Object.entries(MUTANTS)) results[row] = await replay(row, sound, mutant);
for (const [row, mutant] of Object.entries(AMBIENT)) results[row] = await replay(row, mutant, mutant);
// What the order comes to when nothing was changed: the gate stands before its end, so no other result was ever there.
const { result: recorded } = results['what was recorded'];
for (const result of Object.values(results)) result.recorded = recorded;
console.log(JSON.stringify({ results }, null, 2));
process.exit(0);
