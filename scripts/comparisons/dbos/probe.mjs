/**
 * DBOS on a local PostgreSQL: a shop's order is recorded, then forked after its last step under code that does one thing
 * otherwise, so that every recorded step is replayed. Prints, by row of the divergence matrix, what came of it. Run by
 * `scripts/long/comparisons.ts` with the address of a database of its own.
 */
import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';

const url = process.argv[2];
const bill = { cents: 800, order: 'a' };
const letter = { to: 'desk', text: 'order a: 800' };
let performed = [];

const step = (name, input, result) =>
  DBOS.runStep(
    async () => {
      performed.push([name, input]);
      return result;
    },
    { name },
  );
const charge = (input) => step('charge', input, { id: 'c-800' });
const refund = (input) => step('refund', input, { id: 'r-800' });
const mail = (input) => step('mail', input, { sent: true });

async function sound() {
  const { id } = await charge(bill);
  await DBOS.sleep(10);
  await mail(letter);
  return { ok: true, id };
}

let calls = 0;

/** The replacement in the workflow. */
const MUTANTS = {
  'what was recorded': sound,
  'changed code: effect parameters': async () => {
    const { id } = await charge({ ...bill, cents: 801 });
    await DBOS.sleep(10);
    await mail(letter);
    return { ok: true, id };
  },
  'changed code: effects in another order': async () => {
    await mail(letter);
    await DBOS.sleep(10);
    const { id } = await charge(bill);
    return { ok: true, id };
  },
  'changed code: another effect': async () => {
    const { id } = await refund(bill);
    await DBOS.sleep(10);
    await mail(letter);
    return { ok: true, id };
  },
  'changed code: an effect too many': async () => {
    const { id } = await charge(bill);
    await mail(letter);
    await DBOS.sleep(10);
    await mail(letter);
    return { ok: true, id };
  },
  'changed code: an effect too few': async () => {
    const { id } = await charge(bill);
    await DBOS.sleep(10);
    return { ok: true, id };
  },
  'changed code: what is made of a receipt': async () => {
    const { id } = await charge(bill);
    await DBOS.sleep(10);
    await mail(letter);
    return { ok: id.length > 9, id };
  },
  'changed code: a plan’s input': async () => {
    const { id } = await charge({ ...bill, cents: bill.cents / 2 });
    await DBOS.sleep(10);
    await mail(letter);
    return { ok: true, id };
  },
  'changed code: a timer’s time': async () => {
    const { id } = await charge(bill);
    await DBOS.sleep(20);
    await mail(letter);
    return { ok: true, id };
  },
  'ambient: chance': async () => ({ ...(await sound()), seen: Math.random() }),
  'ambient: the clock': async () => ({ ...(await sound()), seen: Date.now() }),
  'ambient: a random identifier': async () => ({ ...(await sound()), seen: crypto.randomUUID() }),
  'ambient: the time since the process began': async () => ({ ...(await sound()), seen: performance.now() }),
  'ambient: the hour of a date': async () => ({ ...(await sound()), seen: new Date(86_400_000).getHours() }),
  'ambient: the time zone': async () => ({
    ...(await sound()),
    seen: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }),
  'ambient: the environment': async () => ({ ...(await sound()), seen: process.env.REGION ?? null }),
  'ambient: a counter of the module': async () => ({ ...(await sound()), seen: ++calls }),
};

let mutant = sound;
const order = DBOS.registerWorkflow(async () => mutant(), { name: 'order' });
DBOS.setConfig({
  name: 'probe',
  systemDatabaseUrl: url,
  logLevel: 'error',
  runAdminServer: false,
  applicationVersion: '1',
});
await DBOS.launch();
const database = new pg.Client({ connectionString: url });
await database.connect();

/** Records an order. */
async function record(code) {
  mutant = code;
  const handle = await DBOS.startWorkflow(order)();
  return { id: handle.workflowID, result: await handle.getResult() };
}

/** Replays every step of a recorded order under some code. */
async function replay(id, code) {
  mutant = code;
  performed = [];
  const handle = await DBOS.forkWorkflow(id, 4, { applicationVersion: '1' });
  try {
    const result = await handle.getResult();
    return { said: null, result, performedAgain: [...performed] };
  } catch (error) {
    return { said: `${error.constructor.name}: ${error.message}`, performedAgain: [...performed] };
  }
}

const results = {};
for (const [row, code] of Object.entries(MUTANTS)) {
  Object.assign(process.env, { REGION: 'north', TZ: 'UTC' });
  const { id, result } = await record(row.startsWith('ambient') ? code : sound);
  Object.assign(process.env, { REGION: 'south', TZ: 'Pacific/Apia' });
  results[row] = { recorded: result, ...(await replay(id, code)) };
}

/** Changes what the database holds of a recorded order, and replays it under the code that recorded it. */
async function tampered(sql) {
  const { id, result } = await record(sound);
  try {
    await database.query(sql, [id]);
  } catch (error) {
    return { said: null, refused: `${error.constructor.name}: ${error.message}` };
  }
  return { recorded: result, ...(await replay(id, sound)) };
}

const STEPS = 'dbos.operation_outputs';
results['receipts and writers: a receipt with another payload'] = await tampered(
  `UPDATE ${STEPS} SET output = replace(output, 'c-800', 'c-1') WHERE workflow_uuid = $1 AND function_name = 'charge'`,
);
results['receipts and writers: a receipt that is gone'] = await tampered(
  `DELETE FROM ${STEPS} WHERE workflow_uuid = $1 AND function_name = 'charge'`,
);
results['receipts and writers: a receipt twice'] = await tampered(
  `INSERT INTO ${STEPS} SELECT * FROM ${STEPS} WHERE workflow_uuid = $1 AND function_name = 'charge'`,
);
results['integrity: frames in another order'] = await tampered(
  `UPDATE ${STEPS} AS step SET function_name = other.function_name, output = other.output
   FROM ${STEPS} AS other WHERE step.workflow_uuid = $1 AND other.workflow_uuid = $1
   AND step.function_id IN (0, 2) AND other.function_id = 2 - step.function_id`,
);
results['integrity: a cut tail'] = await tampered(`DELETE FROM ${STEPS} WHERE workflow_uuid = $1 AND function_id >= 1`);

await database.end();
await DBOS.shutdown();
console.log(JSON.stringify({ results }, null, 2));
process.exit(0);
