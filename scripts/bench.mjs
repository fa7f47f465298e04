/*
 * `npm run bench [-- --only NAME]`: the cost of a turn (`turns`, `sessions`), of organizations (`organizations`), of an
 * import and a bundle (`cold`), then the measurements `packages/PACKAGE/bench/NAME.ts` (`PACKAGE/NAME`), one after the
 * other. Only when named: durable effects beside their floors (`effects`), and beside other systems (`peers`), which are
 * installed for it outside the repository; a very long session (`age`), and the verbs of operators on a large world
 * (`verbs`). They print figures beside a floor measured in the same run; they pass or fail nothing.
 */
import './lib/node-version.mjs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './lib/root.mjs';
import { runEach } from './lib/run-each.mjs';
import { setup } from './setup.mjs';

await setup();
const home = path.join(ROOT, 'packages');
const args = process.argv.slice(2);
const ours = [
  'turns',
  'sessions',
  'organizations',
  'cold',
  ...(args.includes('--only') ? ['effects', 'peers', 'age', 'verbs'] : []),
];
const items = ours.map((name) => ({ name, file: path.join(ROOT, 'scripts/bench', name, 'run.mjs') }));
for (const name of (await readdir(home)).sort()) {
  const folder = path.join(home, name, 'bench');
  const files = await readdir(folder).catch(() => []);
  for (const file of files.filter((entry) => entry.endsWith('.ts')).sort()) {
    items.push({ name: `${name}/${file.slice(0, -'.ts'.length)}`, file: path.join(folder, file) });
  }
}
await runEach(items, args);
