/** Worlds for audits: one in which everything happens that an audit reads, and cells that forge agents and keys. */

import { address, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { Store } from '@reprise/kernel';
import { creates, definePlan, defineReducer } from '@reprise/kernel/define';
import { defineAgent, memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { auditSociety, society } from 'reprise/society';
import { base64Of, makePair, signBytes } from '../../src/adapters/ed25519.js';
import { agentIdOfKey, identityKeygen, proofBytes } from '../../src/index.js';
import { comeBack, crewOf, openPlace, type Place } from './comeback.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

/** A world with an agent that comes back, one with a key of its own, and one that was removed. */
export async function lifeOfASociety() {
  const store = memory();
  const at = await openPlace(store);
  const { ann, bot } = await crewOf(at);
  const { clock, office, world } = at;
  await comeBack(at, ann, bot.id, { items: [{ text: 'Bodies have at most 1 MiB.' }], sessions: 1 });
  await ann.review(bot.id, { approve: 'all' });
  await writeHot(at, bot.id);
  const pair = makePair();
  const public_key = base64Of(pair.publicKey);
  const agent = agentIdOfKey(public_key);
  const statement = { world: world.kernel.id, agent, nonce: 'ann', purpose: 'register' as const };
  const proof = signBytes(pair.privateKey, proofBytes(statement));
  const limited = { tools: ['agent_*', 'memory_*'] };
  await ann.register({ agentType: 'custom', displayName: 'Own', capabilities: limited, publicKey: public_key, proof });
  const own = office.entity(agent);
  const sub = await own.register({ agentType: 'custom', displayName: 'Sub', capabilities: { tools: ['memory_*'] } });
  await ann.capabilities(bot.id, { capabilities: { tools: ['fetch_*'] } });
  await ann.capabilities(bot.id, { capabilities: { tools: null } });
  for (let n = 0; n < 2; n++) {
    const { nonce } = await ann.challenge(bot.id, 'node');
    const signed = { world: world.kernel.id, agent: bot.id, nonce, purpose: 'node' as const };
    const signature = (await at.keys.sign(`ed25519.${bot.id}`, proofBytes(signed))) ?? '';
    await ann.prove(bot.id, { nonce, signature });
  }
  await ann.setStatus(bot.id, 'suspend');
  await ann.setStatus(bot.id, 'resume');
  await refuseAfterKey(at, own.id);
  const gone = await ann.register({ agentType: 'custom', displayName: 'Gone', capabilities: {} });
  await ann.setStatus(gone.agent_id, 'deactivate', { grace: '60s' });
  await clock.advance(61_000);
  await clock.settle();
  await world.close();
  return { store, ids: { bot: bot.id, own: own.id, sub: sub.agent_id, gone: gone.agent_id }, clock, keys: at.keys };
}

async function writeHot({ office }: Place, agent: string): Promise<void> {
  await office.entity(agent).writeL1({ agent: { task: { goal: 'Find the limit', progress: 0.000_001 } } }, 2);
}

/** A registration whose key is made, and whose rights are refused then: the operator has narrowed the parent meanwhile. */
async function refuseAfterKey({ world, office }: Place, parent: string): Promise<void> {
  const holder = `cell:society/Entity@1/${parent}` as const;
  const { declared } = await world.kernel.rights(holder);
  const may = { ...declared?.grant?.may, tool: [] };
  await world.kernel.command('sys/SetRights@1', { holder, grant: { ...declared?.grant, may } as never });
  const capabilities = { tools: ['memory_read_warm'] };
  await office
    .entity(parent)
    .register({ agentType: 'custom', displayName: 'Refused', capabilities })
    .catch(() => undefined);
  await world.kernel.command('sys/SetRights@1', { holder, grant: (declared?.grant ?? null) as never });
}

/** A world whose agent has worked in sessions, one after the other, until its journal has a number of frames. */
export async function longLife(frames: number) {
  const store = memory();
  const part = society();
  const models = { main: script(...Array(frames).fill({ text: 'Done.' })) };
  const world = await openWorld({ store, models, agents: [worker], parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  const { agent_id } = await ann.register({ agentType: 'custom', displayName: 'Bot', capabilities: {} });
  const bot = office.entity(agent_id);
  while (world.kernel.head.seq < frames - 1) await (await bot.send(worker, 'Go on.')).result();
  await world.close();
  return store;
}

const keyEffect = identityKeygen;

/** Makes a key for nobody. */
const strayKeyPlan = definePlan({
  name: 'test/stray_key@1',
  input: z.strictObject({}),
  effects: [keyEffect],
  *run(_, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(keyEffect, { parent: 'nobody', attempt: 1 }));
  },
});

/** A cell of an app that forges: it makes agents itself, and keys for nobody. */
export const forger = defineReducer({
  name: 'test/Forger@1',
  state: z.strictObject({ sent: z.int() }),
  events: {
    'test/Forge@1': creates(z.strictObject({ to: address, name: z.string(), value: value() })),
    'test/StrayKey@1': creates(z.strictObject({})),
  },
  init: () => ({ sent: 0 }),
  reduce(draft, event, ctx) {
    draft.sent++;
    if (event.name === 'test/StrayKey@1') return void ctx.emit({ plan: strayKeyPlan, input: {} });
    const { to, name, value: given } = event.value;
    ctx.send(to, { name, value: given });
  },
});

/** The part with that cell. */
export const forgery = {
  name: 'forgery',
  reducers: [forger],
  plans: [strayKeyPlan],
  handle: () => undefined,
};

/** The report of a store. */
export async function reportOf(store: Store) {
  const reader = await store.openReadonly();
  try {
    return await auditSociety(reader);
  } finally {
    await reader.close();
  }
}
