/**
 * Bugs that are planted in the kernel, in jobs and in societies, one at a time, to see that the simulator finds them: a text of one of its files is
 * replaced, a process runs the simulator on what that gives.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundle } from '../../../../../conformance/bundle.js';
import type { Hunted } from './hunt.js';

/** A bug. */
export interface PlantedBug {
  readonly name: string;
  /** The subject in whose runs it is looked for. */
  readonly subject: string;
  /** Under `packages/`. */
  readonly file: string;
  /** What stands there once… */
  readonly find: string;
  /** … and what stands there instead. */
  readonly replace: string;
  /** What the broken promise is told by. */
  readonly told: RegExp;
}

const STEPPER = 'kernel/src/run/world/write/stepper.ts';

/** The bugs. */
export const PLANTED: readonly PlantedBug[] = [
  {
    name: 'acknowledge before durable',
    subject: 'gate',
    file: 'kernel/src/run/world/write/batch.ts',
    find: 'await journal.append(frames, durable);',
    replace: 'void journal.append(frames, durable).catch(() => undefined);',
    told: /acknowledged before|before that was durable/,
  },
  {
    name: 'double dispatch on recovery',
    subject: 'gate',
    file: 'kernel/src/run/world/open/recovery.ts',
    find: "if (leaf.guarantee === 'idempotent') return again;",
    replace: "if (leaf.guarantee !== 'reconcile') return again;",
    told: /starts again|starts twice|executed twice/,
  },
  {
    name: 'unfenced late receipt',
    subject: 'gate',
    file: 'kernel/src/pure/engine/fold.ts',
    find: 'if (effect.late !== undefined) takeLate(fold, ingress.effect, effect, ingress.receipt);\n  else if',
    replace: 'if',
    told: /late answer|is settled as/,
  },
  {
    name: 'budget released on error',
    subject: 'gate',
    file: 'kernel/src/pure/engine/ledger/accounts.ts',
    find: "return neverStarted(effect, status) ? 'released' : 'unknown';",
    replace: "return status === 'error' || neverStarted(effect, status) ? 'released' : 'unknown';",
    told: /spent and \d+ held|got more than was left/,
  },
  {
    name: 'stale capability',
    subject: 'gate',
    file: 'kernel/src/pure/engine/gate/grants.ts',
    find: 'if (narrows) endRefused(fold, cause);',
    replace: 'void narrows;',
    told: /not permitted/,
  },
  {
    name: 'refuse on speculation',
    subject: 'gate',
    file: STEPPER,
    find: 'batch.outcomes.push({ item, outcome });\n      // Half',
    replace:
      "if (outcome.status === 'refused' && !item.fact) item.settle(outcome);\n      batch.outcomes.push({ item, outcome });\n      // Half",
    told: /a refusal told of/,
  },
  {
    name: 'a job that has ended keeps its slot',
    subject: 'jobs',
    file: 'org/src/pure/job/job-ends.ts',
    find: "draft.slot === 'held' ? END_TAG : undefined",
    replace: 'undefined',
    told: /its slot was not given back|are left in the pool/,
  },
  {
    name: 'a text that is sent again is read as if a salt stood before it',
    subject: 'societies',
    file: 'society/src/pure/contracts/links.ts',
    find: 'PLAIN.get(tool)?.includes(name) === true ? value : as(value)',
    replace: 'as(value)',
    told: /too short for a salt/,
  },
];

const HUNT = fileURLToPath(new URL('hunt.ts', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../../../', import.meta.url));

/** Where a bug is looked for. */
export interface HuntOptions {
  /** How many runs it has to be found in. */
  readonly seeds: number;
  /** Whether to look for the smallest run that shows it. */
  readonly shrink?: boolean;
}

/**
 * Looks for a bug, from the first seed on.
 *
 * @throws Error when the text to be replaced is not there exactly once: the bug has to be planted anew
 */
export async function hunt(bug: PlantedBug, { seeds, shrink = false }: HuntOptions): Promise<Hunted> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reprise-planted-'));
  try {
    const outfile = path.join(folder, 'hunt.mjs');
    const planted = { file: path.join(PACKAGES, bug.file), from: bug.find, to: bug.replace };
    await bundle(HUNT, outfile, { planted });
    const args = [outfile, bug.subject, String(seeds), shrink ? 'shrink' : 'first'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 });
    return JSON.parse(stdout) as Hunted;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
