/** What the commands say about trees, teams and swarms, beside the tables of their cells. The long form: `REPRISE_VIEWS=10000`. */
import { type FactOfTree, type FramePlace, TreeFold } from '@reprise/tree';
import { describe, expect, it } from 'vitest';
import { treeReducer } from '../../../tree/src/pure/reducer/index.js';
import { compareHistories } from './histories.js';
import { SWARMS } from './swarms.js';
import { TEAMS } from './teams.js';
import { compareTrees } from './trees.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES = Number(process.env.REPRISE_VIEWS ?? 1_000);
/** Places in whole worlds, each of which costs as much as forty of a cell alone. */
const SLOW_PLACES = Math.ceil(PLACES / 25);

/** A view that does not hear some facts. */
function deafTo(isHeard: (fact: FactOfTree, view: TreeFold) => boolean): () => TreeFold {
  return () =>
    new (class extends TreeFold {
      override add(fact: FactOfTree, place: FramePlace): void {
        if (isHeard(fact, this)) super.add(fact, place);
      }
    })();
}

describe(`views beside tables (seed ${SEED})`, () => {
  it('reprise tree show --json says of random trees, after any of their steps, what the tables of their cells say [TREE-60]', () => {
    const { places, differences } = compareTrees(treeReducer, { places: PLACES, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES);
  });

  it('reprise team show --json, the waits of projects and the facts of team run say of random projects, after acts, deaths and failed cells, what the tables of their cells say [SPEC-652]', async () => {
    const compared = await compareHistories(TEAMS, { places: SLOW_PLACES, seed: SEED });
    if (process.env.REPRISE_VIEWS)
      console.log(JSON.stringify({ ...compared, differences: compared.differences.length }));
    expect(compared.differences).toEqual([]);
    expect(compared.places).toBe(SLOW_PLACES);
  });

  it('reprise show --json, the events and the status of random swarms say, after acts, deaths and failed cells, what the tables of their cells say [SOC-652]', async () => {
    const compared = await compareHistories(SWARMS, { places: SLOW_PLACES, seed: SEED });
    expect(compared.differences).toEqual([]);
    expect(compared.places).toBe(SLOW_PLACES);
  });

  it.each([
    [
      'the needs of a node that it does not know yet',
      deafTo(
        (fact, { trees }) => fact.name !== 'tree/Needs@1' || trees.get(fact.tree)?.nodes.has(fact.value.n) === true,
      ),
    ],
    ['answers', deafTo(({ name }) => name !== 'tree/Answered@1')],
    ['other limits', deafTo(({ name }) => name !== 'tree/Limited@1')],
    ['launches', deafTo(({ name }) => name !== 'tree/Launched@1')],
    ['what is spent', deafTo(({ name }) => name !== 'tree/Budget@1')],
  ])('the comparison of views with tables finds a view of trees that does not hear %s', (_, makeFold) => {
    expect(compareTrees(treeReducer, { places: 2_000, seed: SEED, makeFold }).differences).not.toEqual([]);
  });
});
