/**
 * Recomputes the golden worlds and holds them to what is pinned:
 *
 *   npx tsx --conditions=@reprise/source conformance/golden/check.ts [--json] [--write]
 *
 * `--json` prints what was computed and compares nothing. `--write` pins it: only for a change that is meant to
 * change derived bytes, in the commit that makes the change, with the kernel's semantics number raised when worlds
 * that exist would replay otherwise. The goldens of an older number stay beside the new ones.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { KERNEL_SEMANTICS } from '@reprise/contracts';
import { GOLDEN_WORLDS, type Golden, perform, pinned } from './worlds.js';

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), String(KERNEL_SEMANTICS));

/** What is pinned for a golden world under the present semantics. */
export function readGolden(name: string): Golden {
  return JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8')) as Golden;
}

/** Computes every golden world. */
export async function computeAll(): Promise<Record<string, Golden>> {
  const computed: Record<string, Golden> = {};
  for (const world of GOLDEN_WORLDS) computed[world.name] = pinned(await perform(world));
  return computed;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, write: { type: 'boolean' } } });
  const computed = await computeAll();
  if (values.json === true) return console.log(JSON.stringify(computed));
  for (const [name, golden] of Object.entries(computed)) {
    if (values.write === true) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(path.join(FOLDER, `${name}.json`), `${JSON.stringify(golden, null, 2)}\n`);
    }
    const known = readGolden(name);
    const equal = JSON.stringify(golden) === JSON.stringify(known);
    if (!equal) process.exitCode = 1;
    console.log(`${equal ? 'equal    ' : 'DIFFERENT'} ${name}: ${golden.frames} frames, head ${golden.head}`);
    if (!equal) console.log(`  pinned ${JSON.stringify(known)}\n  now    ${JSON.stringify(golden)}`);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
