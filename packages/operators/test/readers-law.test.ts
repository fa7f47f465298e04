/** Who may read the stores of random swarms, beside the rights that the open world has. The adversary is a holder above. */
import type { WorldPart } from '@reprise/agent';
import { parseAddress } from '@reprise/contracts';
import { readFrame } from '@reprise/kernel';
import { permits } from '@reprise/kernel/authority';
import { describe, expect, it } from 'vitest';
import { compareHistories, type Histories, type Pair, type Place } from '../../cli/test/views/histories.js';
import { SWARMS } from '../../cli/test/views/swarms.js';
import { readersOf, readersReport } from '../src/readers/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES = process.env.REPRISE_VIEWS === undefined ? 6 : 300;
const STORE = 'memory/Store@1';

const met = { yes: 0, no: 0, reasons: new Set<string>() };

function readersIn<P extends WorldPart>({ part, answer, act }: Histories<P>): Histories<P> {
  return { part, answer, act, look: compareReaders };
}

async function compareReaders({ world, store, app, at }: Place<WorldPart>): Promise<readonly Pair[]> {
  const scopes = new Set<string>();
  const holders = new Set<string>();
  for await (const { seq, bytes } of store.journal.read(0, at.head.seq))
    for (const record of readFrame(bytes, seq).all) {
      if (record.kind !== 'event' && record.kind !== 'request') continue;
      if (record.to[0] === STORE) scopes.add(record.to[1]);
      if (record.to[0] === 'society/Entity@1') holders.add(`cell:society/Entity@1/${record.to[1]}`);
    }
  const pairs: Pair[] = [];
  for (const scope of scopes) {
    const report = await readersOf(store, { app }, scope);
    pairs.push([`the schema for ${scope}`, readersReport.safeParse(report).success, true]);
    const said = new Map(report.rows.map((row) => [row.holder, row.may]));
    for (const holder of holders)
      if ((await stateOf(world, holder)) !== undefined) pairs.push([`a row for ${holder}`, said.has(holder), true]);
    for (const { holder, may, reason, by } of report.rows) {
      if (holder === 'operator') continue;
      const exercise = (await world.kernel.rights(holder as never)).effective?.exercise;
      const isPermitted =
        exercise !== undefined && permits(exercise, 'effect', 'memory.read@1') && permits(exercise, 'mem_read', scope);
      const isOutside = reason === 'not_member' || reason === 'not_own_agent';
      pairs.push([`whether the rights of ${holder} let it read ${scope}`, may || isOutside, isPermitted]);
      if (isOutside) pairs.push([`whether ${holder} is a person`, kindOf(await stateOf(world, holder)), 'person']);
      if (reason === 'narrowed' || reason === 'rights') pairs.push([`what decides for ${holder}`, by !== null, true]);
      met[may ? 'yes' : 'no']++;
      met.reasons.add(reason);
    }
  }
  return pairs;
}

function stateOf(world: Place<WorldPart>['world'], holder: string): Promise<unknown> {
  return world.kernel.state(parseAddress(holder.slice('cell:'.length)) as never);
}

function kindOf(state: unknown): unknown {
  return (state as { readonly kind?: unknown } | undefined)?.kind;
}

describe(`the readers of memories, read from a file (seed ${SEED})`, () => {
  it('given random swarms that act, die and are opened again, when the readers of a store are listed, then those may read it whom the rights of the world permit it, and no other', async () => {
    const { differences, places } = await compareHistories(readersIn(SWARMS), { places: PLACES, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES);
    expect(met.yes).toBeGreaterThan(0);
    expect(met.no).toBeGreaterThan(0);
    expect([...met.reasons]).toEqual(expect.arrayContaining(['member', 'narrowed']));
  });
});
