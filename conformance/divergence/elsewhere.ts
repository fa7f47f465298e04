/**
 * A process that stands elsewhere and replays worlds that another one wrote: its folder holds `<n>.<side>.world`, it
 * prints, by file, what a verification finds. Where it stands its starter says by TZ, LANG and the environment; that
 * its engine rounds and cases otherwise is played here, since the same engine cannot show it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { verifyStore } from '@reprise/kernel';
import { loadWorld } from '@reprise/testkit';
import { type Side, userApp } from './ambient-app.js';
import { USES } from './ambient-uses.js';
import { type Catch, caughtBy, placeOnly } from './row.js';

const [folder = ''] = process.argv.slice(2);

/** The last bit of what an engine rounds is its own affair; so is what its version of Unicode knows of a letter. */
function becomeAnotherEngine(): void {
  const { pow, sin } = Math;
  const upTo = (n: number) => n * (1 + Number.EPSILON);
  Math.pow = (base, exponent) => upTo(pow(base, exponent));
  Math.sin = (x) => upTo(sin(x));
  const { toUpperCase, normalize } = String.prototype;
  String.prototype.toUpperCase = function (this: string) {
    return this === '\u019b' ? '\u019b' : toUpperCase.call(this);
  };
  String.prototype.normalize = function (this: string, form?: string) {
    return this === 'e\u0301' ? 'e\u0301' : normalize.call(this, form);
  };
}

becomeAnotherEngine();
const found: Record<string, readonly Catch[]> = {};
for (const file of readdirSync(folder).filter((name) => name.endsWith('.world'))) {
  const [row, side] = file.split('.') as [string, Side];
  const use = USES[Number(row)];
  if (use === undefined) throw new Error(`no row ${row}`);
  const store = await loadWorld(new Uint8Array(readFileSync(path.join(folder, file))));
  const attempt = verifyStore(await store.openReadonly(), { app: userApp(use, side) });
  found[file] = await caughtBy('verification elsewhere', attempt, placeOnly);
}
console.log(JSON.stringify(found));
