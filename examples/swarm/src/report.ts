/** What a person is told: line by line while it happens, and at the end. */
import { type Actor, type AgentWorld, actorWords } from 'reprise';
import type { Society } from 'reprise/society';
import { escapeLine } from 'reprise/terminal';
import { GROUP, QUESTIONS } from './crew.js';
import { type Happening, happenings } from './journal.js';
import { type Member, PERSON } from './research.js';

/** Names of agents, where their ids stand. */
export function namesOf(members: readonly Member[]): (id: string) => string {
  return (id) =>
    members.find(({ entity }) => entity.id === id)?.name ?? (id === PERSON ? PERSON : `reader ${id.slice(0, 6)}`);
}

/** One line about what happened; undefined for what is not worth one. */
export function lineOf(news: Happening, nameOf: (id: string) => string): string | undefined {
  switch (news.kind) {
    case 'shared':
      return `${nameOf(news.author)} ${verb('share', news.author)} ${news.item}`;
    case 'swarm':
      return `swarm ${news.id} is ${news.status}${news.code === null ? '' : ` (${news.code})`}`;
    case 'judged':
      return `${judgeOf(news, nameOf)} ${news.item} ${news.verdict}`;
    case 'trust':
      return `${nameOf(news.by)} ${verb('trust', news.by)} ${nameOf(news.of)} with ${news.score.toFixed(2)}: ${news.tier}`;
    case 'status':
      return nameOf(news.of).startsWith('reader')
        ? undefined
        : `${nameOf(news.of)} is ${news.status}${askedBy(news.actor)}`;
    case 'ended':
      return `  ${news.operation} ended with ${news.code}, in frame ${news.seq}`;
  }
}

/** Who judges: an agent by its own session, the person, or the rule of this program in the person's name. */
function judgeOf(
  { by, actor }: Extract<Happening, { readonly kind: 'judged' }>,
  nameOf: (id: string) => string,
): string {
  if (by === PERSON && actor.kind !== 'person') return `${actorWords(actor)} finds`;
  return `${nameOf(by)} ${verb('find', by)}`;
}

function askedBy(actor: Actor | undefined): string {
  return actor?.kind === 'rule' ? ` by ${actorWords(actor)}` : '';
}

/** A verb in the person of an entity. */
function verb(word: string, of: string): string {
  return of === PERSON ? word : `${word}s`;
}

/** The report, from the journal. */
export async function reportOf(
  world: AgentWorld,
  office: Society,
  members: readonly Member[],
  file: string,
): Promise<string> {
  const nameOf = namesOf(members);
  const frames = world.kernel.head.seq;
  const all: Happening[] = [];
  for await (const news of happenings(world, { until: frames })) all.push(news);
  const items = await itemsOf(office);
  const wrong = new Set(all.flatMap((news) => (news.kind === 'judged' && news.verdict === 'wrong' ? [news.item] : [])));
  const listed = (isWrong: boolean) =>
    items
      .filter(({ item_id }) => wrong.has(item_id) === isWrong)
      .map(({ author, content }) => cut(`  ${nameOf(author).padEnd(5)}${content ?? ''}`));
  const revoked = all.filter(({ kind }) => kind === 'ended');
  return [
    ...['What was found', ...listed(false), ''],
    ...['What is not so', ...listed(true), ''],
    ...['Questions', ...QUESTIONS.flatMap(({ id, words }) => [`  ${words}`, ...endsOf(id, all)]), ''],
    ...['Trust', ...(await trust(office, members)), ''],
    ...['Revoked in the middle of an operation', ...revoked.map((news) => lineOf(news, nameOf) ?? ''), ''],
    `${frames + 1} frames in ${file}`,
    `npx reprise verify ${file}`,
    `npx reprise inspect ${file}`,
  ].join('\n');
}

/** All that the group has kept, a page at a time. */
async function itemsOf(office: Society) {
  const you = office.entity(PERSON);
  const items = [];
  for (let after: string | undefined; ; ) {
    const page = await you.use('memory_read_warm', { group: GROUP, ...(after === undefined ? {} : { after }) });
    items.push(...page.items);
    if (page.next === undefined) return items;
    after = page.next;
  }
}

/** What became of the swarms of a question. */
function endsOf(id: string, all: readonly Happening[]): readonly string[] {
  const last = new Map<string, Extract<Happening, { readonly kind: 'swarm' }>>();
  for (const news of all) if (news.kind === 'swarm' && news.id.startsWith(`${id}-`)) last.set(news.id, news);
  return [...last].map(([swarm, { status, code }]) => {
    const end = code === 'creator/deactivated' ? 'it lost its lead' : status;
    return `    led by ${swarm.slice(id.length + 1)}: ${end}`;
  });
}

async function trust(office: Society, members: readonly Member[]): Promise<readonly string[]> {
  const observers = [{ name: PERSON, entity: office.entity(PERSON) }, ...members];
  const head = `  ${''.padEnd(6)}${members.map(({ name }) => `of ${name}`.padEnd(16)).join('')}`;
  const rows = observers.map(async ({ name, entity }) => {
    const cells = members.map(async (of) => {
      if (of.name === name) return '-'.padEnd(16);
      const { score, tier, observations } = await entity.trust(of.entity.id);
      return `${score.toFixed(2)} ${tier} (${observations})`.padEnd(16);
    });
    return `  ${name.padEnd(6)}${(await Promise.all(cells)).join('')}`.trimEnd();
  });
  return [head.trimEnd(), ...(await Promise.all(rows))];
}

function cut(text: string): string {
  const line = escapeLine(text);
  return line.length > 79 ? `${line.slice(0, 78)}…` : line;
}
