/** What was taken from an agent while its cell had failed: it counts from the revival on, as its clients see. */
import type { SocietyOptions } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../../conformance/society/failing.js';
import { memoryVault } from '../../src/adapters/vault.js';
import { agentAs, type Caller, openCrew, registered, until } from './support.js';

const note = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' };

/** Ann owns a group; an agent of hers has one below it; that one and its parent are members, and each has a client. */
async function openScene(society: SocietyOptions = {}) {
  const at = await openCrew({ society });
  const { ann, crew } = at;
  const parent = await registered(ann, 'ann');
  const parentClient = await at.as(agentAs(parent));
  const id = await registered(parentClient, parent);
  for (const one of [parent, id]) await crew.join(one);
  const bot = await at.as(agentAs(id));
  const items: string[] = [];
  for (let n = 0; n < 3; n++) items.push((await bot.call('memory_write_warm', note)).data.item_id);
  const revive = () => at.office.entity(id).revive();
  return { ...at, ann, crew, parent, parentClient, id, bot, items, revive };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

async function judgedWrong({ items }: Scene, { call }: Caller): Promise<void> {
  for (const item_id of items) await call('memory_assess', { item_id, verdict: 'wrong', basis: 'user' });
}

/** Each: what happens while the cell of the agent has failed, and what its calls that write and read are answered then. */
const MISSED: readonly (readonly [string, (at: Scene) => Promise<unknown>, string, string | undefined])[] = [
  ['it left the group', ({ crew, id }) => crew.leave(id), 'visibility', 'visibility'],
  ['the group was deleted', ({ crew }) => crew.end('delete'), 'visibility', 'visibility'],
  ['the group was archived', ({ crew }) => crew.end('archive'), 'emcon', undefined],
  ['the owner began emergency mode', (at) => emergency(at), 'emcon', undefined],
  ['the owner judged its items wrong', (at) => judgedWrong(at, at.ann), 'visibility', 'visibility'],
  ['its parent did so', (at) => judgedWrong(at, at.parentClient), 'visibility', 'visibility'],
];

const emergency = ({ ann }: Scene) => ann.call('group_emcon', { group_id: 'crew', on: true });

describe('an agent whose cell has failed and is revived', () => {
  it.each(MISSED)(
    'a revived agent keeps no right that it lost while its cell had failed: %s [SOC-20] [SOC-27] [SOC-31] [SOC-47] [SOC-83] [SOC-106]',
    async (_what, happens, written, read) => {
      await using at = await openScene();
      await failEntity(at.world, at.id);
      await happens(at);
      await at.revive();
      const { data: write } = await at.bot.call('memory_write_warm', note);
      expect(write.detail ?? write.error).toBe(written);
      const { data: reading } = await at.bot.call('memory_read_warm', { group: 'crew' });
      expect(reading.detail).toBe(read);
      expect((await at.world.verify()).unverified).toBe(0);
    },
  );

  it('a revived agent reads and writes as before when nothing was taken from it [SOC-106]', async () => {
    await using at = await openScene();
    await failEntity(at.world, at.id);
    await at.revive();
    expect(await at.bot.call('memory_write_warm', note)).toMatchObject({ isError: false });
    expect((await at.bot.call('memory_read_warm', { group: 'crew' })).data.items).toHaveLength(4);
  });

  it('a revived agent stands still when its parent was suspended meanwhile, and acts again when the parent does [CAP-7] [SOC-106]', async () => {
    await using at = await openScene();
    await failEntity(at.world, at.id);
    await at.ann.call('agent_set_status', { agent_id: at.parent, to: 'suspend' });
    await at.revive();
    expect((await at.bot.call('memory_write_warm', note)).data.error).toBe('agent_not_active');
    await at.ann.call('agent_set_status', { agent_id: at.parent, to: 'resume' });
    expect((await at.bot.call('memory_write_warm', note)).isError).toBe(false);
  });

  it('a revived agent is suspended when an entity above suspended it meanwhile, until that one resumes it [SOC-77] [SOC-106]', async () => {
    await using at = await openScene();
    await failEntity(at.world, at.id);
    const { data } = await at.ann.call('agent_set_status', { agent_id: at.id, to: 'suspend' });
    expect(data).toMatchObject({ status: 'suspended', cell: 'failed' });
    await at.revive();
    expect((await at.bot.call('memory_write_warm', note)).data.error).toBe('agent_not_active');
    const resumed = { agent_id: at.id, to: 'resume' };
    expect((await at.parentClient.call('agent_set_status', resumed)).data.error).toBe('not_authorized');
    expect((await at.ann.call('agent_set_status', resumed)).data.status).toBe('active');
    expect((await at.bot.call('memory_write_warm', note)).isError).toBe(false);
  });

  it('a revived agent has ended when its parent was removed meanwhile [SOC-89] [SOC-106]', async () => {
    await using at = await openScene();
    await failEntity(at.world, at.id);
    await at.ann.call('agent_deactivate', { agent_id: at.parent, grace_seconds: 0 });
    await at.clock.advance(1_000);
    await at.revive();
    await expect(at.bot.call('memory_write_warm', note)).rejects.toThrow(/valid token/);
    expect((await at.office.entity(at.id).state())?.status).toBe('deactivated');
  });

  it('a revived agent answers the call that it had under way, also when a client sends it again under its command_id [SOC-78] [SOC-107]', async () => {
    const vault = memoryVault();
    let waiting = Promise.resolve();
    const make: typeof vault.make = async (...asked) => {
      await waiting;
      return vault.make(...asked);
    };
    await using at = await openScene({ keys: { ...vault, make } });
    let release = (): void => undefined;
    waiting = new Promise((resolve) => {
      release = resolve;
    });
    const spec = { parent_entity_id: at.id, agent_type: 'custom', display_name: 'Bot', capabilities: {} };
    const command = { ...spec, command_id: 'once' };
    const first = at.bot.call('agent_register', command);
    await until(
      () => at.world.kernel.table(['society/Entity@1', at.id], 'calls'),
      (calls) => calls.length === 1,
    );
    await failEntity(at.world, at.id);
    expect((await first).data.error).toBe('cell_failed');
    release();
    await at.revive();
    expect((await at.bot.call('agent_register', command)).data.error).toBe('cell_failed');
    expect((await at.bot.call('agent_register', { ...command, command_id: 'again' })).isError).toBe(false);
  });
});

describe('an entity whose cell had failed, and its agents', () => {
  it('a client that lists the agents of a revived entity sees how they stand [SOC-2] [SOC-108]', async () => {
    await using at = await openScene();
    await failEntity(at.world, at.parent);
    await at.ann.call('agent_deactivate', { agent_id: at.id, grace_seconds: 60 });
    await at.office.entity(at.parent).revive();
    const { data } = await at.parentClient.call('agent_list');
    expect(data.agents.map(({ status }: { status: string }) => status)).toStrictEqual(['deactivated']);
  });

  it('an agent that was removed while the cell of its maker had failed leaves no key and no hot context [SOC-38] [SOC-108]', async () => {
    await using at = await openScene();
    await failEntity(at.world, at.parent);
    await at.ann.call('agent_deactivate', { agent_id: at.id, grace_seconds: 0 });
    await at.clock.advance(1_000);
    await at.office.entity(at.parent).revive();
    const keys = () => at.keys.list(at.world.kernel.id);
    expect(await until(keys, (found) => found.length === 1)).toStrictEqual([`ed25519.${at.parent}`]);
    const clearing = () => at.world.kernel.table(['society/Entity@1', at.parent], 'clearing');
    expect(await until(clearing, (left) => left.length === 0)).toStrictEqual([]);
  });
});
