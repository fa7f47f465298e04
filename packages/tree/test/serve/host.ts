/** A process that owns a world with a program, and waits to be killed. Its argument is a folder. */
import path from 'node:path';
import { relay } from '../../../reprise/src/external.js';
import { openWorld } from '../../../reprise/src/index.js';
import { sqlite } from '../../../reprise/src/sqlite.js';
import { bridge } from '../../src/serve/index.js';
import { owners, resident, TOOLS } from './stage.js';

const folder = process.argv[2] ?? '';
const file = path.join(folder, 'world.db');
const link = bridge({ tools: () => TOOLS, world: file });
const living = resident(link);
const part = owners([living]);
const world = await openWorld({ store: sqlite(file), models: { relay: relay() }, parts: [part] });
const key = await world.part(part).start(living);
const script = [
  { call: 'spawn', args: { goal: 'x' } },
  { note: path.join(folder, 'note-1') },
  { call: 'ask', args: { question: 'Wait?' } },
  { wait: 600_000 },
];
await world.session(key, living).send(JSON.stringify(script));
setInterval(() => undefined, 1_000);
