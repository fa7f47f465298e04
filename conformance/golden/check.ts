/**
 * Recomputes the golden worlds and compares them with the stored ones:
 *
 *   npx tsx --conditions=@reprise/source conformance/golden/check.ts [--json] [--write] [--release VERSION]
 *
 * `--json` prints what was computed and compares nothing. `--write` keeps it: only for a change that is meant to
 * change derived bytes, in the commit that makes the change, with the kernel's semantics number raised when worlds
 * that exist would replay otherwise. `--release` keeps the worlds once more, for a release; these are never written
 * again, and every later build has to replay them.
 */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { findings, keep, keepForRelease, keptFolders, keptWorlds, readGolden } from './stored.js';
import { GOLDEN_WORLDS, type Golden, pinned, replay } from './worlds.js';

/** Computes every golden world. */
export async function computeAll(): Promise<Record<string, Golden>> {
  const computed: Record<string, Golden> = {};
  for (const world of GOLDEN_WORLDS) computed[world.name] = pinned(await replay(world));
  return computed;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean' }, write: { type: 'boolean' }, release: { type: 'string' } },
  });
  if (values.write === true) for (const world of GOLDEN_WORLDS) await keep(world);
  const computed = await computeAll();
  if (values.json === true) return console.log(JSON.stringify(computed));
  for (const [name, golden] of Object.entries(computed)) {
    const known = readGolden(name);
    const equal = JSON.stringify(golden) === JSON.stringify(known);
    if (!equal) process.exitCode = 1;
    console.log(`${equal ? 'equal    ' : 'DIFFERENT'} ${name}: ${golden.frames} frames, head ${golden.head}`);
    if (!equal) console.log(`  pinned ${JSON.stringify(known)}\n  now    ${JSON.stringify(golden)}`);
  }
  for (const kept of keptFolders().flatMap(keptWorlds)) {
    const found = await findings(kept);
    if (found.length > 0) process.exitCode = 1;
    console.log(`${found.length === 0 ? 'replayed' : 'REFUSED  '} ${kept.folder}/${kept.golden.name}.world`);
    for (const finding of found) console.log(`  ${finding}`);
  }
  if (values.release === undefined) return;
  if (process.exitCode === 1) throw new Error('what does not hold is not kept for a release');
  console.log(`kept in ${keepForRelease(values.release)}`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
