/** `reprise society audit` and `reprise verify`, on societies that are clean, forged, damaged or not there. */

import { sqlite } from '@reprise/store-sqlite';
import { VirtualClock } from '@reprise/testkit';
import { openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type AgentRegister, society } from 'reprise/society';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './run.js';
import { freshFolder } from './worlds.js';

const folder = freshFolder();
const clean = folder.file('clean.db');
const wide = folder.file('wide.db');
afterAll(() => folder.remove());

/** A world with an agent, whose rights the operator widens beyond those of its parent. */
async function makeWorld(path: string, isWidened: boolean): Promise<void> {
  const part = society();
  await using world = await openWorld({ store: sqlite(path), models: { main: script() }, parts: [part] });
  const ann = await world.part(part).human('ann', { tools: ['read_*', 'agent_*'] });
  const spec: AgentRegister = { agentType: 'custom', displayName: 'Bot\x1b[2J', capabilities: { tools: ['read_*'] } };
  const { agent_id } = await ann.register(spec);
  await ann.setStatus(agent_id, 'deactivate', { actor: { kind: 'program', id: 'nightly' } });
  const holder = `cell:society/Entity@1/${agent_id}`;
  if (isWidened) await world.kernel.command('sys/SetRights@1', { holder, exercise: { may: { tool: ['*'] } } });
}

beforeAll(async () => {
  await makeWorld(clean, false);
  await makeWorld(wide, true);
});

describe('reprise society audit', () => {
  it('a clean society has no problem and exit code 0, also with --json, and names are escaped [SOC-54]', async () => {
    const { code, out, err } = await run('society', 'audit', clean);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      /^.*clean\.db: no problem\n[0-9a-f]{12} Bot\\u001b\[2J \[deactivated\] custom, made in frame \d+/i,
    );
    expect(out).toMatch(/ registered → deactivated, asked by program nightly for ann\n/);
    expect(out).toContain('\n1 person, 1 agent, ');
    const json = await run('society', 'audit', clean, '--json');
    expect(JSON.parse(json.out)).toMatchObject({ problems: [], agents: [{ parent_entity_id: 'ann' }] });
    expect((await run('society', 'audit', clean, '--json')).out).toBe(json.out);
  });

  it('the audit shows what holds up the society now, and no service that only others wait for [SOC-131]', async () => {
    const open = await sqlite(clean).open();
    const post = (key: string) => ({
      ...{ kind: 'service_failing', where: `${key}.example`, code: 'x', since: 1, waiting: 1 },
      cells: [['aos.agent/SessionReducer@1', `${key}/desk`]],
    });
    try {
      await open.post?.(JSON.stringify([post('ann'), post('anna')]));
      expect((await run('society', 'audit', clean)).out).toMatch(/\ntrouble: ann\.example, since [^\n]*\n$/);
      expect(JSON.parse((await run('society', 'audit', clean, '--json')).out).trouble).toMatchObject([
        { where: 'ann.example' },
      ]);
    } finally {
      await open.close();
    }
  });

  it('rights above those of the maker are a problem with its frame and exit code 1 [SOC-54]', async () => {
    const { code, out } = await run('society', 'audit', wide);
    expect(code).toBe(1);
    expect(out).toMatch(/wide\.db: 1 problem\n\d+\.0 [0-9a-f]{12} rights_above_maker: rights were set that exceed /);
    expect(JSON.parse((await run('society', 'audit', wide, '--json')).out).problems).toHaveLength(1);
  });

  it('wrong use exits with 2 and a world that is not there with 3', async () => {
    expect((await run('society', 'audit')).code).toBe(2);
    expect((await run('society', 'audit', clean, '--nothing')).code).toBe(2);
    expect((await run('society', 'audit', folder.file('none.db'))).code).toBe(3);
  });
});

describe('reprise verify, on a society', () => {
  it('a verification after the removal of an agent reports the erased content and exits with 0 [SOC-38]', async () => {
    const [path, clock, part] = [folder.file('removed.db'), new VirtualClock(), society()];
    {
      await using world = await openWorld({ store: sqlite(path), clock, models: { main: script() }, parts: [part] });
      const ann = await world.part(part).human('ann');
      const { agent_id } = await ann.register({ agentType: 'custom', displayName: 'Bot', capabilities: {} });
      const bot = world.part(part).entity(agent_id);
      await bot.writeL1({ active: { note: 'Only mine.' }, ephemeral: { note: 'Also mine.' } }, 1);
      await ann.setStatus(agent_id, 'deactivate', { grace: '60s' });
      await clock.advance(60_000);
      await clock.settle();
      expect((await bot.state())?.status).toBe('removed');
    }
    const { code, out, err } = await run('verify', path);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/erased 2: a tombstone in the journal accounts for each/);
    expect(JSON.parse((await run('verify', path, '--json')).out)).toMatchObject({ ok: true, erased: 2 });
  });
});
