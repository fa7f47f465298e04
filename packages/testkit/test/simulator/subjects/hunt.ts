/** A process that looks for a broken promise: `hunt SUBJECT SEEDS shrink|first`; what it found as JSON. */
import { simulate } from '@reprise/testkit/simulator';
import { SUBJECTS } from './subjects.js';

/** What was found. */
export interface Hunted {
  readonly runs: number;
  /** Absent when nothing was found. */
  readonly found?: { readonly seed: number; readonly why: string; readonly decisions: number };
}

const [name, seeds, how] = process.argv.slice(2);
const subject = SUBJECTS.find((one) => one.name === name);
if (subject === undefined) throw new TypeError(`there is no subject ${name}`);
const { runs, failure } = await simulate(subject, { seeds: Number(seeds), shrink: how === 'shrink' });
const hunted: Hunted = {
  runs,
  ...(failure && { found: { seed: failure.seed, why: failure.why, decisions: failure.choices.length } }),
};
console.log(JSON.stringify(hunted));
