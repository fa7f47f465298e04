/** Deliberately broken builds of the reducer: each is the sources with one place changed, in a bundle of its own. */

import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../../../../conformance/bundle.js';
import type { stopLarge } from '../../../../conformance/tree/size.js';

const REDUCER = fileURLToPath(new URL('../../src/pure/reducer/', import.meta.url));

/** A mistake: in a file, one text in the place of another. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The mistakes that schedules must find, on the reducer alone and in real worlds. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a node is launched though a need is open',
    file: 'node/make.ts',
    from: 'else if (row.unmet === 0) enterLine',
    to: 'else enterLine',
  },
  {
    name: 'a node goes on below one that was stopped',
    file: 'run/work.ts',
    from: "if (above.status === 'complete' ||",
    to: 'if (true ||',
  },
  {
    name: 'a node is synthesized while its own run is under way',
    file: 'run/work.ts',
    from: "parent.status === 'waiting_children' && parent.run === 'none'",
    to: "parent.status === 'waiting_children' || parent.status === 'active'",
  },
  {
    name: 'a node is synthesized twice in one generation',
    file: 'run/run-end.ts',
    from: '  row.gen++;\n  row.since = 0;\n',
    to: '  row.gen++;\n',
  },
  {
    name: 'circles are looked for along needs only',
    file: 'delivery/reach.ts',
    from: '...children.map(',
    to: '...[].map(',
  },
  {
    name: 'a failed last child tells its parent nothing',
    file: 'run/work.ts',
    from: '  parent.open--;\n',
    to: "  parent.open--;\n  if (arguments[1].status === 'failed') return;\n",
  },
  {
    name: 'a failed run that made children is simply tried again',
    file: 'run/run-end.ts',
    from: '  if (row.since > 0) {\n    row.unfinished = code;',
    to: '  if (false) {\n    row.unfinished = code;',
  },
];

/** Mistakes with budgets and changes of nodes: schedules of the reducer alone come to them more often. */
export const BUDGET_MUTANTS: readonly Mutant[] = [
  {
    name: 'a launch sets more aside than the tree has left',
    file: '../../../../org/src/pure/kit/ledger.ts',
    from: 'if (given >= least && given <= left) return',
    to: 'if (given >= least && given < Number.POSITIVE_INFINITY) return',
  },
  {
    name: 'use that was not reported counts nothing',
    file: 'delivery/spending.ts',
    from: 'const share = stated || tree !== null ?',
    to: 'const share = false ?',
  },
  {
    name: 'a run that has its answers waits behind a node that waits for its budget',
    file: 'node/end-node.ts',
    from: "return run === 'none' ? place :",
    to: "return run !== '' ? place :",
  },
  {
    name: 'a question stays with a node that gets no budget before the asker has its answer',
    file: 'run/line.ts',
    from: 'if (delivery.state.running > 0) return false;',
    to: 'if (true) return false;',
  },
  {
    name: 'a paused node that is changed is asked nothing any longer',
    file: 'input/people.ts',
    from: "if (line === 'held') delivery",
    to: 'if (false) delivery',
  },
];

/** Mistakes about who acted: the words of one party recorded as another's. */
export const ACTOR_MUTANTS: readonly Mutant[] = [
  {
    name: 'an answer of nodes is recorded as an answer of a person',
    file: 'ask/outcome.ts',
    from: "return { how: 'answered', by, picked: own.picked",
    to: "return { how: 'answered', by: { kind: 'person', id: 'ann' }, picked: own.picked",
  },
  {
    name: 'every answer from outside is recorded as one of the operator',
    file: 'ask/outcome.ts',
    from: "closeAsk(delivery, n, { how: 'answered', by: actorIn(delivery.ctx), picked",
    to: "closeAsk(delivery, n, { how: 'answered', by: { kind: 'program', id: 'operator' }, picked",
  },
  {
    name: 'the stop of a node is recorded as a stop of people',
    file: 'input/calls.ts',
    from: 'const by = nodeActor(delivery, row.n);',
    to: "const by = { kind: 'person', id: 'ann' };",
  },
];

/** A module that plays schedules on a broken reducer. */
export interface Broken {
  /** Plays schedules until one shows the mistake. @returns what it shows; undefined when none does */
  find(runs: number, seed: number): string | undefined;
  /** Makes random calls. @returns those of which the tree says otherwise than the table */
  differences(calls: number, seed: number): readonly string[];
}

/** Builds a mutant, and loads it. @throws Error when the place is not there, or there twice */
export async function broken(mutant: Mutant): Promise<Broken> {
  return (await bundled(mutant, new URL('find.ts', import.meta.url))) as Broken;
}

/** Builds a mutant for real worlds, and loads it. */
export async function brokenWorlds(mutant: Mutant): Promise<typeof import('./find-world.js')> {
  return (await bundled(mutant, new URL('find-world.ts', import.meta.url))) as typeof import('./find-world.js');
}

/** The same for a world with large trees. */
export async function brokenWorld(mutant: Mutant): Promise<{ readonly stopLarge: typeof stopLarge }> {
  const size = new URL('../../../../conformance/tree/size.ts', import.meta.url);
  return (await bundled(mutant, size)) as { readonly stopLarge: typeof stopLarge };
}

async function bundled({ file, from, to }: Mutant, entry: URL): Promise<unknown> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-tree-mutant-'));
  const outfile = path.join(folder, 'mutant.mjs');
  try {
    await bundle(fileURLToPath(entry), outfile, { planted: { file: path.join(REDUCER, file), from, to } });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(folder, { recursive: true });
  }
}
