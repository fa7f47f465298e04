/** The story: a person asks three questions, the crew shares what it finds and judges it, and one loses its trust. */
import { type Actor, type AgentWorld, isRepriseError } from 'reprise';
import type { Entity, Society } from 'reprise/society';
import { type Crew, GROUP, LEADS_MAY, leading, manifestOf, QUESTIONS, type Question } from './crew.js';
import { happenings } from './journal.js';

/** The person that asks. */
export const PERSON = 'you';
const NAMES = ['ada', 'ben', 'cleo'] as const;

/**
 * What this program does in the name of the person: a finding that one of the crew finds wrong is wrong, and an agent of
 * low trust is revoked. The person may judge as well, over MCP: that is the person's own verdict.
 */
const RULE: Actor = { kind: 'rule', id: 'any_wrong_vote', granted_by: null };

/** An agent of the crew. */
export interface Member {
  readonly name: string;
  readonly entity: Entity;
}

/** Registers the crew, and opens its group: once, however often the program is started. */
export async function hire(office: Society): Promise<readonly Member[]> {
  const you = await office.human(PERSON);
  const group = office.group(GROUP);
  await group.open({ owner: PERSON, culture: { broadcast_eagerness: 'taciturn' } });
  await group.join(PERSON, 'owner', { id: PERSON });
  const members: Member[] = [];
  for (const name of NAMES) {
    const spec = { agentType: 'custom' as const, displayName: name, capabilities: LEADS_MAY };
    const { agent_id } = await you.register(spec, { id: name });
    await group.join(agent_id, 'member', { id: name });
    members.push({ name, entity: office.entity(agent_id) });
  }
  return members;
}

/**
 * Asks all questions. Each step has an id: after a crash, what was done is not done again.
 *
 * @param signal aborted when the user leaves: the world is closed then
 */
export async function research(
  world: AgentWorld,
  office: Society,
  crew: Crew,
  members: readonly Member[],
  signal: AbortSignal,
): Promise<void> {
  const judging = new AbortController();
  const judged = judge(world, office, crew, members, AbortSignal.any([judging.signal, signal]));
  for (const question of QUESTIONS) {
    const first = members.findIndex(({ name }) => name === question.lead);
    // The next of the crew takes over what a revoked lead has left.
    for (const member of [...members.slice(first), ...members.slice(0, first)])
      if (await Promise.race([asked(office, crew, member, question), judged.then(() => true)])) break;
  }
  judging.abort();
  await judged;
}

/** Has a lead answer a question with a swarm. @returns whether it came to an end; a revoked lead's does not */
async function asked(office: Society, crew: Crew, { name, entity }: Member, question: Question): Promise<boolean> {
  const id = `${question.id}-${name}`;
  if ((await entity.state())?.status === 'deactivated') return false;
  await entity.createSwarm(manifestOf(id, question, entity.id), { id });
  const run = await entity.send(name === 'cleo' ? crew.hasty : crew.lead, leading(id, question), { id, session: id });
  await run.result();
  if ((await entity.state())?.status === 'deactivated') return false;
  return (await office.swarm(id).status()).status === 'archived';
}

/** Has each finding judged by the others as soon as it is shared. Whom the person no longer trusts is revoked. */
async function judge(world: AgentWorld, office: Society, crew: Crew, members: readonly Member[], signal: AbortSignal) {
  const you = office.entity(PERSON);
  try {
    for await (const news of happenings(world, { signal })) {
      const author = members.find(({ entity }) => news.kind === 'shared' && entity.id === news.author);
      if (news.kind !== 'shared' || author === undefined) continue;
      const { items } = await you.use('memory_read_warm', { item_id: news.item });
      const words = `Judge ${news.item} by ${author.name}:\n${items[0]?.content ?? ''}`;
      const voters = members.filter((member) => member !== author);
      const votes = await Promise.all(voters.map((voter) => vote(voter, words, news.item, crew)));
      const verdict = votes.includes('wrong') ? 'wrong' : 'right';
      const { tier } = await you.assess(news.item, { verdict, basis: 'cross_reference' }, { actor: RULE });
      const once = { id: `revoke-${author.name}`, actor: RULE };
      if (tier === 'low') await you.setStatus(author.entity.id, 'deactivate', once);
    }
  } catch (error) {
    if (!signal.aborted && !isRepriseError(error, 'world_closed')) throw error;
  }
}

/** The verdict of an agent; undefined for one that was revoked. */
async function vote({ entity }: Member, words: string, item: string, crew: Crew): Promise<string | undefined> {
  if ((await entity.state())?.status === 'deactivated') return undefined;
  const run = await entity.send(crew.judge, words, { id: `judge-${item}`, session: 'judge' });
  return /\bwrong\b/.test(await run.text()) ? 'wrong' : 'right';
}
