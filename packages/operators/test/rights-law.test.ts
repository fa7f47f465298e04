/** The rights of holders at random places of random swarms, beside those that the open world says. */
import type { WorldPart } from '@reprise/agent';
import { formatAddress, type Principal } from '@reprise/contracts';
import { readFrame } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { compareHistories, type Histories, type Pair, type Place } from '../../cli/test/views/histories.js';
import { SWARMS } from '../../cli/test/views/swarms.js';
import { rightsAt, rightsReport } from '../src/rights/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES = process.env.REPRISE_VIEWS === undefined ? 6 : 300;

let narrowed = 0;

function rightsOf<P extends WorldPart>({ part, answer, act }: Histories<P>): Histories<P> {
  return { part, answer, act, look: compareRights };
}

async function compareRights({ world, store, app, at }: Place<WorldPart>): Promise<readonly Pair[]> {
  const holders = new Set<Principal>(['operator', 'human:ann']);
  for await (const { seq, bytes } of store.journal.read(0, at.head.seq))
    for (const record of readFrame(bytes, seq).all)
      if (record.kind === 'event') holders.add(`cell:${formatAddress(record.to)}`);
  const pairs: Pair[] = [];
  for (const holder of holders) {
    const report = await rightsAt(store, { app }, holder);
    const { declared, effective } = await world.kernel.rights(holder);
    if (declared !== undefined) narrowed++;
    pairs.push(
      [`the schema of ${holder}`, rightsReport.safeParse(report).success, true],
      [
        `the rights of ${holder}`,
        { exercise: report.exercise, grant: report.grant, account: report.account },
        { exercise: effective?.exercise ?? null, grant: effective?.grant ?? null, account: effective?.account ?? null },
      ],
      [
        `what was set for ${holder}`,
        report.chain.find((one) => one.holder === holder)?.exercise ?? null,
        declared?.exercise ?? null,
      ],
      [`who set what was set for ${holder}`, report.chain.every(({ since }) => since !== null), true],
    );
  }
  return pairs;
}

describe(`the rights of holders, read from a file (seed ${SEED})`, () => {
  it('given random swarms that act, die and are opened again, when the rights of a holder are read from the file, then they are those that the world says, and each has the frame that set it', async () => {
    const { differences, places } = await compareHistories(rightsOf(SWARMS), { places: PLACES, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES);
    expect(narrowed).toBeGreaterThan(0);
  });
});
