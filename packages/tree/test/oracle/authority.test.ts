import { describe, expect, it } from 'vitest';
import { tryCalls } from '../../../../conformance/tree/authority.js';
import { treeReducer } from '../../src/pure/reducer/tree-reducer.js';
import { broken } from './mutants.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);

/** The long form: `conformance/tree-long.ts --calls 10000`. */
describe(`random calls of random nodes (seed ${SEED})`, () => {
  it('a node makes, completes, answers and stops only as its place in the tree allows, whatever it sends [TREE-9] [TREE-29]', () => {
    const { allowed, refused, differences } = tryCalls(treeReducer, 1_500, SEED);
    expect(differences).toEqual([]);
    expect(allowed).toBeGreaterThan(150);
    expect(refused).toBeGreaterThan(150);
  });

  it('the table finds a tree that takes the caller from the value of a call', async () => {
    const { differences } = await broken({
      name: 'the caller is taken from the value of a call',
      file: 'tree-reducer.ts',
      from: 'requireOwnRun(ctx, call.session);',
      to: "n = ctx.table('sessions').get(call.session);",
    });
    expect(differences(1_500, SEED)).not.toEqual([]);
  });

  it.each([193_000, 213_000, 225_000, 343_000])(
    'a session that was replaced cannot act by naming the session that replaced it (seed %d) [TREE-29]',
    (seed) => {
      expect(tryCalls(treeReducer, 400, seed).differences).toEqual([]);
    },
  );

  it('the table refuses an answer that picks none of the options, and takes one that picks an option [TREE-29]', () => {
    const { allowed, differences } = tryCalls(treeReducer, 400, 48_000);
    expect(differences).toEqual([]);
    expect(allowed).toBeGreaterThan(40);
  });
});
