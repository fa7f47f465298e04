/**
 * Changes every byte of every stored golden world:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/golden.ts [--every 23] [--seed N]
 *
 * For each byte the check must name the file and the frame and record, or the blob. For one byte in so many a
 * verification, which has nothing but the world, must refuse it and name the frame.
 */
import { parseArgs } from 'node:util';
import { expectNamed, expectRefused } from '../../conformance/golden/flips.js';
import { partsOf } from '../../conformance/golden/parts.js';
import { keptFolders, keptWorlds } from '../../conformance/golden/stored.js';
import { randomFrom } from '../../conformance/random.js';

const { values: options } = parseArgs({
  options: {
    every: { type: 'string', default: '23' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const seed = Number(options.seed);
const every = Number(options.every);
const random = randomFrom(seed);
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;

console.log(`golden, long form: seed ${seed}`);
for (const kept of keptFolders().flatMap(keptWorlds)) {
  const parts = partsOf(kept.world);
  let refused = 0;
  for (const part of parts) {
    for (let at = part.from; at < part.to; at++) {
      const flip = { at, xor: 1 + Math.floor(random() * 255), part };
      expectNamed(kept, flip);
      if (at % every > 0) continue;
      await expectRefused(kept, flip);
      refused++;
    }
  }
  const file = `${kept.folder}/${kept.golden.name}.world`;
  console.log(
    `${file}: ${kept.world.length} of ${kept.world.length} bytes named, in ${parts.length} parts; ` +
      `${refused} of ${refused} refused by a verification alone; ${seconds()}`,
  );
}
console.log(`golden, long form: ok; seed ${seed}, ${seconds()}`);
