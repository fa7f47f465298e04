/**
 * XState: a shop's order as a statechart, led by recorded events through the pure `transition()`, and led again by a machine
 * that does one thing otherwise. XState keeps no journal and promises no check; so besides what it says, this tells
 * whether a caller who stored the snapshot and the actions of each step would see a difference. Run by
 * `scripts/long/comparisons.ts` in a folder that has the package.
 */
import { assign, createActor, getInitialSnapshot, setup, transition } from 'xstate';

const told = [];
let calls = 0;

/** The order's machine, with parts of it replaced. */
function machineOf({
  bill = { cents: 800, order: 'a' },
  effects = ['charge', 'mail'],
  wait = 60_000,
  paid,
  seen,
  id,
} = {}) {
  const [first, second, ...more] = effects;
  const tell = (name, params) => ({ type: name, params });
  const letter = { to: 'desk', text: 'order a: 800' };
  const params = { charge: bill, refund: bill, mail: letter };
  const done = (name) => name !== undefined && tell(name, params[name]);
  return setup({
    actions: Object.fromEntries(
      ['charge', 'refund', 'mail'].map((name) => [name, (_, params) => void told.push([name, params])]),
    ),
  }).createMachine({
    id: 'order',
    initial: 'open',
    context: { receipt: '', ok: false, seen: null },
    states: {
      open: { on: { CHECKED_OUT: { target: 'charging', actions: [done(first), ...more.map(done)].filter(Boolean) } } },
      charging: {
        on: {
          [id ?? 'CHARGED']: {
            target: 'waiting',
            actions: assign(({ event }) => ({
              receipt: event.id,
              ok: paid?.(event.id) ?? true,
              seen: seen?.() ?? null,
            })),
          },
        },
      },
      waiting: { after: { [wait]: { target: 'mailing', actions: [done(second)].filter(Boolean) } } },
      mailing: { on: { MAILED: 'paid' } },
      paid: { type: 'final' },
    },
  });
}

const eventsOf = (receipt = 'c-800', wait = 60_000) => [
  { type: 'CHECKED_OUT' },
  { type: 'CHARGED', id: receipt },
  { type: `xstate.after.${wait}.order.waiting` },
  { type: 'MAILED' },
];

/** Sends events to a machine. @returns the snapshots and actions of all steps, or its error */
function lead(machine, events) {
  try {
    const steps = [];
    let snapshot = getInitialSnapshot(machine);
    for (const event of events) {
      const [next, actions] = transition(machine, snapshot, event);
      snapshot = next;
      steps.push({
        value: next.value,
        context: next.context,
        actions: actions.map(({ type, params }) => ({ type, params })),
      });
    }
    return { said: null, steps, status: snapshot.status };
  } catch (error) {
    return { said: `${error.constructor.name}: ${error.message}` };
  }
}

const sound = lead(machineOf(), eventsOf());

function compared(name, machine, events = eventsOf(), recorded = sound) {
  const again = lead(machine, events);
  const at =
    again.said === null
      ? recorded.steps.findIndex((step, i) => JSON.stringify(step) !== JSON.stringify(again.steps[i]))
      : -1;
  return [name, { said: again.said, differsAt: at < 0 ? null : at, status: again.status ?? null }];
}

const mutants = [
  compared('what was recorded', machineOf()),
  compared('changed code: effect parameters', machineOf({ bill: { cents: 801, order: 'a' } })),
  compared('changed code: effects in another order', machineOf({ effects: ['mail', 'charge'] })),
  compared('changed code: another effect', machineOf({ effects: ['refund', 'mail'] })),
  compared('changed code: an effect too many', machineOf({ effects: ['charge', 'mail', 'mail'] })),
  compared('changed code: an effect too few', machineOf({ effects: ['charge'] })),
  compared('changed code: what is made of a receipt', machineOf({ paid: (id) => id.length > 9 })),
  compared('changed code: a timer’s time', machineOf({ wait: 61_000 })),
  compared('changed code: a renamed event', machineOf({ id: 'PAID' })),
  compared('receipts and writers: a receipt with another payload', machineOf(), eventsOf('c-1')),
  compared('receipts and writers: a receipt that is gone', machineOf(), eventsOf().toSpliced(1, 1)),
  compared('receipts and writers: a receipt twice', machineOf(), eventsOf().toSpliced(1, 0, eventsOf()[1])),
  compared('integrity: frames in another order', machineOf(), eventsOf().with(0, eventsOf()[1]).with(1, eventsOf()[0])),
  compared('integrity: a cut tail', machineOf(), eventsOf().slice(0, -1)),
];

/** Reads the clock until it moves: two readings are never the same. */
function moved() {
  const before = Date.now();
  while (Date.now() === before);
  return Date.now();
}

const AMBIENT = {
  'ambient: chance': () => Math.random(),
  'ambient: a random identifier': () => crypto.randomUUID(),
  'ambient: the clock': moved,
  'ambient: the hour of a date': () => new Date(86_400_000).getHours(),
  'ambient: the time zone': () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  'ambient: the time since the process began': () => performance.now(),
  'ambient: the environment': () => process.env.REGION,
  'ambient: a counter of the module': () => ++calls,
};
for (const [name, seen] of Object.entries(AMBIENT)) {
  Object.assign(process.env, { REGION: 'north', TZ: 'UTC' });
  const recorded = lead(machineOf({ seen }), eventsOf());
  Object.assign(process.env, { REGION: 'south', TZ: 'Pacific/Apia' });
  mutants.push(compared(name, machineOf({ seen }), eventsOf(), recorded));
}

/** A changed persisted snapshot, and an actor that continues from it. */
function restored(change) {
  const actor = createActor(machineOf()).start();
  for (const event of eventsOf().slice(0, 2)) actor.send(event);
  const persisted = JSON.parse(JSON.stringify(actor.getPersistedSnapshot()));
  actor.stop();
  try {
    const again = createActor(machineOf(), { snapshot: change(persisted) });
    again.subscribe({ error: () => undefined });
    again.start();
    const { value, context, status, error } = again.getSnapshot();
    again.stop();
    return { said: status === 'error' ? String(error) : null, value, context };
  } catch (error) {
    return { said: `${error.constructor.name}: ${error.message}` };
  }
}

const results = Object.fromEntries(mutants);
results['integrity: a forged state'] = restored((snapshot) => ({
  ...snapshot,
  context: { ...snapshot.context, receipt: 'c-1' },
}));
results['changed code: a definition that is gone'] = restored((snapshot) => ({ ...snapshot, value: 'nowhere' }));
console.log(JSON.stringify({ results }, null, 2));
process.exit(0);
