/** Audits of societies: what the journal says of each agent, checked again. */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memory } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { defineAgent, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type KeyVault, society } from 'reprise/society';
import { describe, expect, it, vi } from 'vitest';
import { memoryVault } from '../../src/adapters/vault.js';
import { lifeOfASociety, longLife, reportOf } from '../support/audited.js';
import { forgedCopy } from '../support/forged.js';
import { openOffice } from '../support/office.js';

const life = lifeOfASociety();

describe('an audit of a society in which all is well', () => {
  it('an audit states of each agent its maker, key, proofs, rights, refusals, links, use and statuses, and finds nothing [SOC-54]', async () => {
    const { store, ids } = await life;
    const { agents, problems, people, unused_keys } = await reportOf(store);
    expect(problems).toEqual([]);
    expect(people.map(({ entity_id }) => entity_id)).toEqual(['ann']);
    const of = Object.fromEntries(agents.map((agent) => [agent.display_name, agent]));
    expect(Object.keys(of)).toEqual(['Bot', 'Own', 'Sub', 'Gone']);
    const { Bot, Own, Sub, Gone } = of;
    expect(Bot).toMatchObject({ agent_id: ids.bot, maker: 'society/Entity@1/ann', depth: 1, status: 'active' });
    expect(Bot?.proofs.map(({ purpose, recorded, checked }) => [purpose, recorded, checked])).toEqual([
      ['return', 'verified', 'verified'],
      ['node', 'verified', 'verified'],
      ['node', 'verified', 'verified'],
    ]);
    expect(Bot?.statuses.map(({ new: to, reason, by, actor }) => [to, reason, by, actor])).toEqual([
      ['active', 'operated', null, null],
      ['suspended', 'asked', 'ann', { kind: 'program', id: 'operator' }],
      ['active', 'asked', 'ann', { kind: 'program', id: 'operator' }],
    ]);
    expect(Bot?.links.map(({ cause }) => cause)).toEqual(['opened', 'synced', 'written', 'identified']);
    expect(Bot?.rights.length).toBeGreaterThan(3);
    expect(Own?.key).toMatchObject({ key_ref: null, proved: { seq: expect.any(Number) } });
    expect(Own?.refused_rights).toEqual([]);
    expect(Sub?.effective.may.tool).toEqual(['memory_*']);
    expect(Own?.use.tools).toEqual([{ tool: 'agent_register', calls: 2 }]);
    expect(Gone).toMatchObject({ status: 'removed', key: { destroyed: { seq: expect.any(Number) } } });
    expect(unused_keys).toHaveLength(1);
  });

  it('keys that are made for a swarm which is disbanded meanwhile are unused keys, and no finding', async () => {
    const vault = memoryVault();
    let go = (): void => undefined;
    const isOpen = new Promise<void>((resolve) => {
      go = resolve;
    });
    let asked = 0;
    const make: KeyVault['make'] = async (...args) => {
      asked++;
      await isOpen;
      return vault.make(...args);
    };
    const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });
    await using at = await openOffice({ agents: [worker], society: { keys: { ...vault, make } } });
    const slots = [{ slot: 'worker', agentType: 'swarm-worker', capabilities: {}, count: 3 }] as const;
    const ann = await at.office.human('ann');
    const forming = ann.createSwarm({ swarmId: 's', goal: 'Work.', strategy: 'broadcast', agents: [...slots] });
    const refused = expect(forming).rejects.toMatchObject({ details: { reason: 'swarm_over' } });
    const { kernel } = at.world;
    await vi.waitUntil(() => asked === 3, { timeout: 60_000 });
    await at.office.swarm('s').disband();
    go();
    await refused;
    const { unused_keys, problems } = await vi.waitUntil(
      async () => {
        const report = await at.office.audit();
        return report.unused_keys.length === 3 ? report : undefined;
      },
      { timeout: 60_000 },
    );
    expect(unused_keys.map(({ key_ref }) => key_ref).sort()).toEqual([...(await vault.list(kernel.id))].sort());
    expect(problems).toEqual([]);
    await at.world.verify();
  });

  it('a swarm whose id an earlier swarm had, which was refused, is the swarm of its own creator', async () => {
    const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });
    await using at = await openOffice({ agents: [worker], steps: [{ text: 'Done.' }] });
    const [ann, ben] = [await at.office.human('ann'), await at.office.human('ben')];
    await at.office.group('taken').open();
    const slots = [{ slot: 'worker', agentType: 'swarm-worker', capabilities: {}, count: 1 }] as const;
    const swarm = { swarmId: 's', goal: 'Work.', strategy: 'broadcast', agents: [...slots] } as const;
    const refused = ann.createSwarm({ ...swarm, agents: [...slots], groupId: 'taken' });
    await expect(refused).rejects.toMatchObject({ details: { reason: 'group_exists' } });
    await ben.createSwarm({ ...swarm, agents: [...slots] });
    const { problems, agents } = await at.office.audit();
    const shown = agents.map(({ maker, parent_entity_id }) => [maker, parent_entity_id]);
    expect([problems, shown]).toEqual([[], [['society/Swarm@1/s', 'ben']]]);
  });

  it('the same frames give the same bytes, from the open world and from stores of two kinds [SOC-55]', async () => {
    const { store, keys, clock } = await life;
    const path = join(tmpdir(), `reprise-audit-${process.pid}.db`);
    try {
      const disk = sqlite(path);
      await forgedCopy(store, undefined, disk);
      const copies = [await reportOf(store), await reportOf(store), await reportOf(disk)].map((one) =>
        JSON.stringify(one),
      );
      const part = society({ keys });
      await using world = await openWorld({ store: disk, clock, models: { main: script() }, parts: [part] });
      const { head, ...open } = await world.part(part).audit();
      expect(head.seq).toBeGreaterThanOrEqual(JSON.parse(copies[0] ?? '').head.seq);
      expect(JSON.parse(JSON.stringify(open))).toEqual((({ head: _, ...rest }) => rest)(JSON.parse(copies[0] ?? '')));
      expect(new Set(copies).size).toBe(1);
    } finally {
      for (const suffix of ['', '-wal', '-shm', '.lock']) rmSync(`${path}${suffix}`, { force: true });
    }
  });

  it('a fork is audited as a world of its own: its receipts speak of the world in which they were given [SOC-54]', async () => {
    const { store, keys, clock } = await life;
    const own = await forgedCopy(store);
    const part = society({ keys });
    const models = { main: script() };
    const world = await openWorld({ store: own, clock, models, parts: [part] });
    for (const mode of ['dry', 'live'] as const) {
      const into = memory();
      const grants = mode === 'live' ? { grants: { may: {} } } : {};
      await world.kernel.fork({ into, mode, at: 12, ...grants });
      const { problems, agents, world: id } = await reportOf(into);
      expect({ mode, problems, agents: agents.length, isOwn: id !== world.kernel.id }).toEqual({
        ...{ mode, problems: [], agents: 1, isOwn: true },
      });
    }
    await world.close();
  });

  it('the cost of an audit grows with the number of frames: four times as many take less than eight times as long [SOC-56]', async () => {
    const [short, long] = [await longLife(150), await longLife(600)];
    const time = async (store: typeof short) => {
      const began = process.cpuUsage();
      const { problems } = await reportOf(store);
      expect(problems).toEqual([]);
      return process.cpuUsage(began).user;
    };
    await time(short);
    const one = Math.min(await time(short), await time(short));
    const four = Math.min(await time(long), await time(long));
    console.info(`audit of 150 frames: ${one} µs CPU; of 600: ${four} µs`);
    expect(four).toBeLessThan(8 * one);
  });
});
