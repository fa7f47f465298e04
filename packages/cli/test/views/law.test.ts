/** What the commands say about trees, teams and swarms, beside the tables of their cells. The long form: `REPRISE_VIEWS=10000`. */

import { type FactOfTree, type FramePlace, TreeFold } from '@reprise/tree';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { treeReducer } from '../../../tree/src/pure/reducer/tree-reducer.js';
import { compareHistories } from './histories.js';
import { SWARMS } from './swarms.js';
import { TEAMS } from './teams.js';
import { compareTrees } from './trees.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const LONG = process.env.REPRISE_VIEWS === undefined ? undefined : Number(process.env.REPRISE_VIEWS);
/** Places in a cell alone cost little, those in whole worlds of a team or of a swarm a hundred and a thousand times as much. */
const PLACES =
  LONG === undefined
    ? { trees: 1_000, teams: 25 / stepOf(5), swarms: 3 / stepOf(3) }
    : { trees: LONG * 0.7, teams: LONG * 0.27, swarms: LONG * 0.03 };

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
    const { places, differences } = compareTrees(treeReducer, { places: PLACES.trees, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES.trees);
  });

  it('reprise team show --json, the waits of projects and the facts of team run say of random projects, after acts, deaths and failed cells, what the tables of their cells say [SPEC-52]', async () => {
    const compared = await compareHistories(TEAMS, { places: PLACES.teams, seed: SEED });
    if (process.env.REPRISE_VIEWS)
      console.log(JSON.stringify({ ...compared, differences: compared.differences.length }));
    expect(compared.differences).toEqual([]);
    expect(compared.places).toBe(PLACES.teams);
  });

  it('reprise show --json, the events and the status of random swarms say, after acts, deaths and failed cells, what the tables of their cells say [SOC-116]', async () => {
    const compared = await compareHistories(SWARMS, { places: PLACES.swarms, seed: SEED });
    if (LONG !== undefined) console.log(JSON.stringify({ ...compared, differences: compared.differences.length }));
    expect(compared.differences).toEqual([]);
    expect(compared.places).toBe(PLACES.swarms);
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
