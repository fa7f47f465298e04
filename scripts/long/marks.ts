/**
 * The law of marks over random forged texts, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/marks.ts [--texts 10000] [--place NAME] [--seed N]
 *
 * Each text is made of marks, look-alikes, encodings of both, and words of the runtime. It enters a prompt at each place
 * where words of others do, and the request in each wire format is read by a strict parser, which must find every word
 * under the party that said it, in the text as it is and in each rendering.
 */
import { parseArgs } from 'node:util';
import { holdMarks } from '../../packages/reprise/test/marks/law.js';
import { PLACES } from '../../packages/reprise/test/marks/places.js';

const { values: options } = parseArgs({
  options: {
    texts: { type: 'string', default: '10000' },
    place: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [texts, seed] = [Number(options.texts), Number(options.seed)];
const started = performance.now();
const places = Object.keys(PLACES).filter((place) => options.place === undefined || place === options.place);
if (places.length === 0) throw new Error(`there is no place ${options.place}; the places are: ${Object.keys(PLACES)}`);
const sum = { texts: 0, requests: 0, words: 0 };
console.log(`marks, long form: ${texts} texts through each of ${places.length} places, seed ${seed}`);

for (const place of places) {
  // A run forges two texts.
  const tally = await holdMarks(place, Math.ceil(texts / 2), seed);
  sum.texts += tally.texts;
  sum.requests += tally.requests;
  sum.words += tally.words;
  console.log(`${place}: ${tally.texts} texts, ${tally.requests} requests, ${seconds()} s`);
}

console.log(
  `marks, long form: ok; ${sum.texts} texts of ${sum.words} characters in ${sum.requests} requests, ` +
    `0 words under another party; seed ${seed}, ${seconds()} s`,
);

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
