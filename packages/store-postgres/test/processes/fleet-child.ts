/**
 * A host on a directory that it shares: `fleet-child.mjs DATABASE DIRECTORY TTL WORLDS IN_MS`. It sets a timer in each of so
 * many worlds, says `ready`, and wakes what is due. Some of its worlds stay open, the others it has closed.
 */
import { creates, defineApp, defineReducer, openKernelWorld } from '@reprise/kernel';
import { openHost } from '@reprise/kernel/host';
import * as z from 'zod';
import { postgres } from '../../src/index.js';

const [url = '', directory = '', ttl = '', worlds = '', inMs = ''] = process.argv.slice(2);

const reminder = defineReducer({
  name: 'app/Reminder@1',
  state: z.strictObject({ rang: z.int() }),
  events: {
    'app/Set@1': creates(z.strictObject({ inMs: z.int() })),
    'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
  },
  init: () => ({ rang: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'sys/TimerFired@1') draft.rang++;
    else ctx.timer('ring', ctx.now + event.value.inMs);
  },
});
const app = defineApp({ reducers: [reminder] });

const database = postgres(url, { ttl: Number(ttl) });
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const host = await openHost({
  directory: database.directory(directory),
  store: (world) => database.world(world),
  open: (_world, base) => openKernelWorld({ ...base, app }),
  maxOpen: 20,
  onError: ({ world, error }) => say(`error ${world ?? 'directory'} ${String(error)}`),
});
for (let n = 0; n < Number(worlds); n++)
  await host.use(`${directory}-${n}`, (world) =>
    world.request([reminder.name, 'r'], { name: 'app/Set@1', value: { inMs: Number(inMs) } }),
  );
say('ready');
process.on('SIGTERM', () => {
  void host
    .close()
    .then(() => database.close())
    .then(() => process.exit(0));
});
