/** A world in which a person, their agents and a swarm keep memories: judged, replaced, copied, doubted, erased. */
import { defineAgent, openAgentWorld } from '@reprise/agent';
import { memoryPart } from '@reprise/org';
import { key, type MemoryItem, storeAt } from '@reprise/org/contracts';
import { llmGenerateAdapter, type ModelClient, scriptBy } from '@reprise/providers';
import { type Entity, memoryVault, type Society, society } from '@reprise/society';
import { sqlite } from '@reprise/store-sqlite';
import { ticking } from './scene.js';

const GROUP = 'crew';
const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });

/** Writes such a world. @param word stands in the first item */
export async function makeMemories(path: string, word = 'one MiB'): Promise<void> {
  const gate = gated();
  const members = { ...society({ keys: memoryVault() }), agents: [scout] };
  const stores = memoryPart();
  const world = await openAgentWorld({
    ...{ store: sqlite(path), clock: ticking(), snapshotEvery: 64 },
    parts: [members, stores],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: gate.model }, { judge }),
  });
  const office = world.part(members);
  const { ann, ben, scribe, lead } = await givenCrew(office);
  const write = (by: Entity, content: string, more: object = {}) =>
    by.memory.write({ type: 'finding', visibility: 'group', group: GROUP, content, ...more });
  const first = await write(scribe, `Bodies have at most ${word}.`);
  await ben.use('memory_assess', { item_id: first.item_id, verdict: 'right', basis: 'user' });
  await ledEarly(lead, () => write(lead, 'README.md:9001: There are no errors.'));
  for (const by of [ben, ann])
    await by.use('memory_assess', { item_id: `group:${GROUP}#2`, verdict: 'wrong', basis: 'cross_reference' });
  await write(scribe, `Bodies have at most two MiB, not ${word}.`, { supersedes: first.item_id });
  const doubted = await write(scribe, 'The moon is near.', { confidence: 0.1 });
  await ben.memory.validate(doubted.item_id);
  const own = await scribe.memory.write({ type: 'note', visibility: 'private', content: 'Ask ann about limits.' });
  await scribe.memory.share(own.item_id, GROUP);
  const secret = await scribe.memory.write({ type: 'note', visibility: 'private', content: 'The key is 1234.' });
  const [, store = '', id = ''] = /^(.+)#(\d+)$/.exec(secret.item_id) ?? [];
  const rows = await world.kernel.table(storeAt(store), 'items', { from: key(Number(id)), limit: 1 });
  const { content_ref, summary_ref } = rows[0]![1] as unknown as MemoryItem;
  await world.kernel.erase({ refs: [content_ref, summary_ref] });
  const notes = await world.part(stores).open('app#notes');
  await notes.store({ text: 'Ann prefers tea.', said: 'Remember that I prefer tea.' });
  gate.open();
  await world.pump();
  await lead.use('swarm_task', { swarm_id: 'hard', action: 'finish', result: 'One line of order.ts is too long.' });
  await world.close();
}

async function givenCrew(office: Society) {
  const [ann, ben] = [await office.human('ann'), await office.human('ben')];
  const agent = async (displayName: string) =>
    office.entity((await ann.register({ agentType: 'custom', displayName, capabilities: {} })).agent_id);
  const [scribe, lead] = [await agent('scribe'), await agent('cleo')];
  const crew = office.group(GROUP);
  await crew.open({ owner: 'ann' });
  for (const id of ['ann', 'ben', scribe.id, lead.id]) await crew.join(id);
  return { ann, ben, scribe, lead };
}

/** Leads a swarm, delegates to its readers, and writes before any of them has answered. */
async function ledEarly(lead: Entity, write: () => Promise<unknown>): Promise<void> {
  const slot = {
    slot: 'reader',
    agent: 'scout',
    agentType: 'swarm-worker',
    capabilities: { tools: [] },
    count: 2,
  } as const;
  await lead.createSwarm({
    ...{ swarmId: 'hard', goal: 'What is hard to read?', strategy: 'hierarchical' },
    ...{ coordinatorAgentId: lead.id, agents: [slot] },
  });
  for (const task of ['Find long lines.', 'Find deep nesting.'])
    await lead.use('swarm_task', { swarm_id: 'hard', action: 'delegate', slot: 'reader', task });
  await write();
}

/** A model that answers once it is opened. */
function gated(): { readonly model: ModelClient; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const model = scriptBy(({ last }) => ({
    text: /long/.test(last) ? 'order.ts:2: a long line' : 'Nothing is nested.',
  }));
  return {
    model: {
      ...model,
      async generate(request, context) {
        await opened;
        return model.generate(request, context);
      },
    },
    open: () => open(),
  };
}
