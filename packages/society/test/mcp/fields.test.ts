/** A coverage law: every field of the answer of every tool is filled by some call of a real client. */
import { defineAgent, defineTool, type Tool } from 'reprise';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { failEntity } from '../../../../conformance/society/failing.js';
import { base64Of, makePair } from '../../src/adapters/ed25519.js';
import { proofBytes } from '../../src/index.js';
import { SOCIETY_TOOLS, type SocietyToolName } from '../../src/pure/index.js';
import { fileSchema, type JsonSchema } from '../../src/wire/index.js';
import { returnArgs } from '../support/comeback.js';
import { agentAs, type Caller, openServed, registered, type ServedPlace, until } from './support.js';

/** The fields of a schema, by their paths: `agents[].status`. What is any JSON has no fields of its own. */
function fieldsOf(schema: JsonSchema, defs: Readonly<Record<string, JsonSchema>>, at = ''): readonly string[] {
  const { $ref, properties = {}, items, anyOf } = schema as Record<string, never>;
  if (typeof $ref === 'string') return fieldsOf(defs[($ref as string).slice('#/$defs/'.length)] ?? {}, defs, at);
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).flatMap((one) => fieldsOf(one, defs, at));
  if (items !== undefined) return fieldsOf(items, defs, `${at}[]`);
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, part]) => {
    const path = at === '' ? name : `${at}.${name}`;
    return [path, ...fieldsOf(part, defs, path)];
  });
}

/** The fields that a value fills: null fills nothing. */
function filledBy(value: unknown, at = ''): readonly string[] {
  if (value === null || value === undefined || typeof value !== 'object') return [];
  if (Array.isArray(value)) return value.flatMap((one) => filledBy(one, `${at}[]`));
  return Object.entries(value).flatMap(([name, part]) => {
    const path = at === '' ? name : `${at}.${name}`;
    return part === null || part === undefined ? [] : [path, ...filledBy(part, path)];
  });
}

/** The fields that no answer fills, by tool. */
function deadFields(
  told: readonly ServedPlace['told'][number][],
  tools: readonly (readonly [SocietyToolName, JsonSchema])[],
): readonly string[] {
  return tools.flatMap(([tool, schema]) => {
    const answers = told.filter(([name, { isError }]) => name === tool && !isError);
    const filled = new Set(answers.flatMap(([, { data }]) => filledBy(data)));
    const fields = new Set(fieldsOf(schema, (schema.$defs ?? {}) as Record<string, JsonSchema>));
    return [...fields].filter((field) => !filled.has(field)).map((field) => `${tool}: ${field}`);
  });
}

const ANSWERS = Object.entries(SOCIETY_TOOLS).map(
  ([tool, { answer }]) => [tool as SocietyToolName, fileSchema(answer, 'output')] as const,
);

const scope = { layers: ['l1', 'l2'], groups: ['crew', 'other'], visibility: ['private', 'group'] };
const ALL = {
  ...{ memory_read: scope, memory_write: scope, tools: ['*'], max_parallel_ops: 4, ttl_seconds: 3_600 },
  autonomous: true,
};

/** Agents: registered, listed, narrowed, ended; and one whose cell fails. */
async function agents(at: ServedPlace): Promise<void> {
  await at.keys.register(at.world.kernel.id, 'ann', base64Of(makePair('x25519').publicKey));
  const ann = await at.as('human:ann');
  const subscriptions = [
    { event: 'memory.written', group_id: 'elsewhere' },
    { event: 'trust.score_changed', agent_id: 'f'.repeat(64) },
  ];
  const id = await registered(ann, 'ann', ALL, { grant: ALL, subscriptions });
  const bot = await at.as(agentAs(id));
  const below = await registered(bot, id, ALL);
  await ann.call('agent_capabilities', { agent_id: id, capabilities: { tools: ['agent_*'] }, subscriptions });
  await ann.call('agent_capabilities', { agent_id: below });
  await ann.call('agent_set_status', { agent_id: below, to: 'activate' });
  const [failed, other] = [await registered(ann, 'ann'), await registered(ann, 'ann')];
  for (const one of [failed, other]) {
    await ann.call('agent_set_status', { agent_id: one, to: 'activate' });
    await failEntity(at.world, one);
  }
  await ann.call('agent_list', { limit: 1 });
  await ann.call('agent_list');
  await ann.call('agent_reader_key', { public_key: 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=' });
  await ann.call('agent_set_status', { agent_id: other, to: 'suspend' });
  await ann.call('agent_capabilities', { agent_id: failed, capabilities: ALL });
  await ann.call('agent_deactivate', { agent_id: failed });
  await waiting(at, ann);
  const { data } = await ann.call('agent_challenge', { agent_id: id, purpose: 'api' });
  const statement = { world: at.world.kernel.id, agent: id, nonce: data.nonce, purpose: 'api' } as const;
  const signature = await at.keys.sign(`ed25519.${id}`, proofBytes(statement));
  await ann.call('agent_prove', { agent_id: id, nonce: data.nonce, signature });
}

/** An agent that joins a group while the cell of its maker has failed. */
async function waiting(at: ServedPlace, ann: Caller): Promise<void> {
  const maker = await registered(ann, 'ann', ALL);
  const id = await registered(await at.as(agentAs(maker)), maker, ALL);
  await failEntity(at.world, maker);
  await at.office.group('other').open({ owner: 'ann' });
  await at.office.group('other').join(id);
  await ann.call('agent_capabilities', { agent_id: id });
}

/** Items, events, trust, and what an agent brings back. */
async function memories(at: ServedPlace): Promise<void> {
  const ann = await at.as('human:ann');
  const ben = await at.as('human:ben');
  const crew = at.office.group('crew');
  await crew.open({ owner: 'ann' });
  await crew.join('ann', 'owner');
  await crew.join('ben');
  const id = await registered(ann, 'ann', {}, { display_name: 'Filing' });
  await crew.join(id);
  const note = { type: 'note', visibility: 'group', group: 'crew' };
  const bot = await at.as(agentAs(id));
  const said = { ...note, content: 'The limit is 2 MiB.', subject_key: 'limit', confidence: 0.8 };
  const { data: written } = await bot.call('memory_write_warm', said);
  await ann.call('memory_write_warm', { ...note, content: 'Retries are three.' });
  await ben.call('memory_read_warm', { group: 'crew', limit: 1 });
  await ben.call('memory_search', { query: 'limit' });
  await ben.call('events_poll');
  await ann.call('memory_assess', { item_id: written.item_id, verdict: 'right', basis: 'user' });
  const { data: doubted } = await bot.call('memory_write_warm', { ...note, content: 'Perhaps.', confidence: 0.1 });
  await ben.call('memory_validate', { item_id: doubted.item_id });
  const { data: own } = await ann.call('memory_write_warm', { type: 'note', visibility: 'private', content: 'Mine.' });
  await ann.call('memory_share', { item_id: own.item_id, group_id: 'crew' });
  const task = { goal: 'File', context: ['a.ts'], progress: 0.5, findings: ['One.'] };
  const parts = { active: { file: 'a.ts' }, ephemeral: { a: 1 } };
  const { data: hot } = await bot.call('memory_read_hot');
  const patch = { ...parts, agent: { task, working_memory: { a: 1 } } };
  await bot.call('memory_write_hot', { patch, expected_version: hot.version });
  const { data: mine } = await ann.call('memory_read_hot');
  const prefs = { prefs: { a: 1 }, delegation: { b: 2 } };
  await ann.call('memory_write_hot', { patch: prefs, expected_version: mine.version });
  await ann.call('memory_read_hot');
  const items = [
    { text: 'The limit is 1 MiB.', subject_key: 'limit' },
    { text: 'A second.' },
    { text: 'A third.', group: 'gone' },
  ];
  const { data: challenge } = await ann.call('agent_challenge', { agent_id: id, purpose: 'return' });
  const back = await returnArgs(at, id, { items, sessions: 1, nonce: challenge.nonce });
  const { data: staged } = await ann.call('agent_return', back);
  const { staging_group_id } = staged;
  const { data: page } = await ann.call('memory_read_warm', { group: staging_group_id });
  const ids = page.items.map(({ item_id }: { item_id: string }) => item_id);
  const partial = { staging_group_id, decision: 'partial', items: [ids[0], ids[2]] };
  const { data: reviewed } = await ann.call('staging_review', partial);
  await ann.call('memory_read_warm', { item_id: reviewed.copied[0] });
  const { data: second } = await ann.call('agent_challenge', { agent_id: id, purpose: 'return' });
  const whole = { items: [{ text: 'All of it.' }], sessions: 1, nonce: second.nonce };
  const { data: again } = await ann.call('agent_return', await returnArgs(at, id, whole));
  await ann.call('staging_review', { staging_group_id: again.staging_group_id, decision: 'approve' });
  await bot.call('memory_read_hot'); // it knows the common link now
  await mergesAlone(at);
  await ann.call('group_emcon', { group_id: 'crew', on: true });
}

/** An agent whose parent has found it right so often that what it brings back is merged without a review. */
async function mergesAlone(at: ServedPlace): Promise<void> {
  const ann = await at.as('human:ann');
  const id = await registered(ann, 'ann');
  await ann.call('agent_capabilities', { agent_id: id, automerge: true });
  await at.office.group('crew').join(id);
  const bot = await at.as(agentAs(id));
  for (let n = 1; n <= 27; n++) {
    const note = { type: 'note', visibility: 'group', group: 'crew', content: `Item ${n}` };
    const { data } = await bot.call('memory_write_warm', note);
    await ann.call('memory_assess', { item_id: data.item_id, verdict: 'right', basis: 'user' });
  }
  const { data: challenge } = await ann.call('agent_challenge', { agent_id: id, purpose: 'return' });
  const back = { items: [{ text: 'New.', subject_key: 'merged alone' }], sessions: 0, nonce: challenge.nonce };
  const { data } = await ann.call('agent_return', await returnArgs(at, id, back));
  expect(data.merged).toBe(true);
  await ann.call('memory_read_warm', { group: 'crew', limit: 50 });
}

/** Swarms: one that is led, with words and a failure, and one that fails. */
async function swarms(at: ServedPlace, release: () => void): Promise<void> {
  const ann = await at.as('human:ann');
  const id = await registered(ann, 'ann');
  const lead = await at.as(agentAs(id));
  await lead.call('agent_list');
  const slot = (name: string) => ({ slot: name, agent_type: 'swarm-worker', capabilities: {}, count: 1 });
  const manifest = {
    swarm_id: 'markets',
    goal: 'Compare',
    strategy: 'hierarchical',
    agents: [slot('scout'), slot('broken')],
  };
  await ann.call('swarm_create', { ...manifest, coordinator_agent_id: id });
  const tool = { swarm_id: 'markets' };
  const { data: begun } = await ann.call('swarm_status', tool);
  const worker = await at.as(agentAs(begun.agents[0].agent_id));
  for (const name of ['scout', 'broken'])
    await lead.call('swarm_task', { ...tool, action: 'delegate', slot: name, task: 'Look.' });
  await worker.call('swarm_task', { ...tool, action: 'report', result: 'x'.repeat(2_000) });
  await ann.call('swarm_status', { ...tool, limit: 1 });
  await ann.call('swarm_status', tool);
  release();
  await lead.call('swarm_task', { ...tool, action: 'collect' });
  await lead.call('swarm_task', { ...tool, action: 'collect', limit: 1 });
  await lead.call('swarm_task', { ...tool, action: 'finish', result: 'Both are large.' });
  await ann.call('swarm_status', tool);
  await ann.call('swarm_disband', tool);
  await ann.call('swarm_create', { swarm_id: 'bad', goal: 'Go', strategy: 'broadcast', agents: [slot('broken')] });
  await until(
    () => ann.call('swarm_status', { swarm_id: 'bad' }),
    ({ data }) => data.status === 'failed',
  );
}

describe('the answers of the tools of a society', () => {
  it('every field of every answer schema is filled by some call of a client [SOC-101]', async () => {
    const worker = (name: string, tools: readonly Tool[] = []) =>
      defineAgent({ name, model: 'main', instructions: `You are ${name}.`, tools: [...tools] });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      args: z.strictObject({}),
      run: async () => {
        await released;
        return 'done';
      },
    });
    await using at = await openServed({
      agents: [worker('scout', [wait]), worker('broken')],
      model: ({ system, messages }) => {
        if (system.includes('broken')) return { fail: 'provider_error_terminal/bad_request' };
        const isReleased = messages.some(({ role }) => role === 'tool');
        return isReleased ? { text: 'Done.' } : { calls: [{ tool: 'wait', args: {} }] };
      },
    });
    for (const name of ['ann', 'ben']) await at.office.human(name);
    await agents(at);
    await memories(at);
    await swarms(at, release);
    expect(deadFields(at.told, ANSWERS)).toStrictEqual([]);
  });

  it('no other tool of a world states a schema of its answers: trees and teams answer in words', async () => {
    await using at = await openServed();
    const listed = at.world.served.flatMap(({ tools }) => tools.map(({ name }) => name));
    expect(listed).toStrictEqual(Object.keys(SOCIETY_TOOLS));
  });

  it('the law finds a field that nothing fills', () => {
    const schema = {
      type: 'object',
      properties: { rows: { type: 'array', items: { properties: { dead: {}, live: {} } } } },
    };
    const told = [['agent_list', { isError: false, data: { rows: [{ live: 1, dead: null }] } }]] as const;
    expect(deadFields(told, [['agent_list', schema]])).toStrictEqual(['agent_list: rows[].dead']);
  });
});
