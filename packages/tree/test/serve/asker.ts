/** A process that gives a command to the owner of a world, and prints what became of it, or writes it to a file. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { askOwner } from '../../src/serve/index.js';

const { values } = parseArgs({
  options: { world: { type: 'string' }, token: { type: 'string' }, out: { type: 'string' } },
});
const { world = '', token, out } = values;
const said = await askOwner(world, 'stop', { tree: 'work', n: 1 }, token === undefined ? {} : { token });
const text = JSON.stringify(said ?? 'absent');
if (out === undefined) process.stdout.write(text);
else writeFileSync(out, text);
