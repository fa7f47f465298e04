/** Waits for the cells beside entities and swarms: a group and a hot context that fail end what waits for them. */
import { type Address, formatAddress, isRepriseError } from '@reprise/contracts';
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { describe, expect, it } from 'vitest';
import { defectiveSociety } from './support/failing.js';
import { agentOf } from './support/office.js';

/** A group fails when an entity has answered that it takes part, and a hot context when it is to be shown. */
const defective = () =>
  defectiveSociety(({ reducer, event }) => {
    if (reducer === 'society/Group@1') return event === 'sys/Reply@1' || event === 'society/Emcon@1';
    return event === 'society/ReadL1@1';
  });

async function office() {
  const part = defective();
  const world = await openWorld({ store: memory(), models: { main: script() }, agents: [], parts: [part] });
  const ann = await world.part(part).human('ann');
  const bot = world.part(part).entity(await agentOf(ann));
  return { world, office: world.part(part), ann, bot };
}

type Place = Awaited<ReturnType<typeof office>>;

const outcome = (asked: Promise<unknown>) =>
  asked.then(
    () => 'no error',
    (error: unknown) => (isRepriseError(error) ? [error.code, error.details.reason] : error),
  );

const crew = ({ office: at }: Place) => at.group('crew');

/** Each: what waits, the cell that fails, what begins the wait, and how it ends. */
const CASES: readonly (readonly [string, string, (at: Place) => Promise<unknown>, readonly unknown[]])[] = [
  [
    'a member that joins a group which fails',
    'society/Group@1',
    async (at) => {
      await crew(at).open();
      await crew(at).join(at.bot.id);
    },
    ['cell_failed', undefined],
  ],
  [
    'an entity that commands a group which fails',
    'society/Group@1',
    async (at) => {
      if ((await crew(at).state()) === undefined) await crew(at).open({ owner: 'ann' });
      await at.ann.use('group_emcon', { group_id: 'crew', on: true });
    },
    ['request_rejected', 'cell_failed'],
  ],
  [
    'an entity that reads a hot context which fails',
    'society/L1@1',
    async ({ bot }) => bot.l1(),
    ['request_rejected', 'cell_failed'],
  ],
  [
    'an entity that writes a hot context which has failed',
    'society/L1@1',
    async ({ bot }) => {
      await bot.l1().catch(() => undefined);
      await bot.writeL1({ agent: { task: { goal: 'Work', progress: 0 } } }, 1);
    },
    ['request_rejected', 'cell_failed'],
  ],
];

describe('given a cell of a society that fails, besides its entities and swarms', () => {
  it.each(CASES)(
    '%s is told of the failed cell, at the fault and after it [RED-39]',
    async (_name, reducer, wait, expected) => {
      const at = await office();
      await using world = at.world;
      expect(await outcome(wait(at))).toEqual(expected);
      expect(await outcome(wait(at))).toEqual(expected);
      expect(
        (await world.trouble()).map(({ where }) => formatAddress(where as Address).startsWith(`${reducer}/`)),
      ).toEqual([true]);
      await world.verify();
    },
  );
});
