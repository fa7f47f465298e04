/**
 * Reads the team and its skills. What a decision depends on waits in the inbox for a reading that began after it came.
 */
import { allRows, type EventValue } from '@reprise/kernel/define';
import { key, LIVE_ITEMS_MAX, openStore, pair, pairsOf, startFor } from '@reprise/org/contracts';
import { type InboxRow, type projectNews, type SkillsSeen, scopeOf, type TaskToMake } from '../../contracts/index.js';
import { type KnownTeam, readPlan } from '../../plans/plans.js';
import type { Delivery } from './delivery.js';

type TeamRead = EventValue<typeof projectNews, 'specialists/TeamRead@1'>;
type Look = NonNullable<TeamRead['seen']>;

/** Puts something into the inbox, a plan with its tasks, and has the team and its skills read. */
export function afterReading(delivery: Delivery, row: InboxRow, tasks: readonly TaskToMake[] = []): void {
  const { state } = delivery;
  const n = state.next.inbox++;
  delivery.ctx.table('inbox').set(key(n), row);
  for (const [i, task] of tasks.entries()) delivery.ctx.table('planned').set(pair(n, i), task);
  if (state.reading === null) startReading(delivery);
}

function startReading(delivery: Delivery): void {
  const { ctx } = delivery;
  const input = beginReading(delivery);
  startFor(ctx, ctx.table('plans'), { plan: readPlan, input }, { kind: 'team', reading: input.id });
}

/** The plan that read the team is gone: it is read again when something waits for it. */
export function readAgain(delivery: Delivery): void {
  delivery.state.reading = null;
  if (delivery.ctx.table('inbox').size > 0) startReading(delivery);
}

/** Begins to read the team, unless it is being read: what a plan has to know for it. */
export function beginReading({ state }: Delivery): KnownTeam {
  const known = { name: state.team, team: state.version, skills: state.skills };
  if (state.reading !== null) return { id: null, ...known };
  state.reading = { id: state.next.read++, upto: state.next.inbox };
  return { id: state.reading.id, ...known };
}

/**
 * Takes what was read.
 *
 * @param take takes an entry of the inbox, in the order in which they came, and the tasks of a plan
 */
export function teamRead(
  delivery: Delivery,
  read: TeamRead,
  take: (delivery: Delivery, row: InboxRow, tasks: readonly TaskToMake[]) => void,
): void {
  const { state } = delivery;
  const { seen } = read;
  if (seen !== null) {
    teamSeen(delivery, seen.team);
    skillsSeen(delivery, seen.skills);
  }
  const { reading } = state;
  if (seen?.skills.more || reading === null || reading.id !== read.id) return;
  state.reading = null;
  if (state.version === null) return failed(delivery, read.code);
  const inbox = delivery.ctx.table('inbox');
  for (let first = inbox.first(); first !== undefined && Number(first[0]) < reading.upto; first = inbox.first()) {
    inbox.delete(first[0]);
    take(delivery, first[1], takePlanned(delivery, Number(first[0])));
  }
  if (inbox.size > 0) startReading(delivery);
}

/** The tasks of a plan in the inbox: they leave it. */
function takePlanned(delivery: Delivery, n: number): TaskToMake[] {
  const planned = delivery.ctx.table('planned');
  const found = [...allRows(planned, pairsOf(n))];
  for (const [at] of found) planned.delete(at);
  return found.map(([, task]) => task);
}

function teamSeen(delivery: Delivery, { version, team }: Look['team']): void {
  const { state, ctx } = delivery;
  state.version = version;
  if (team === undefined) return;
  state.team = team.name;
  const bounded = delivery.ctx.table('team').get('team')?.memory_max ?? null;
  delivery.ctx.table('team').set('team', team);
  delivery.state.calls = team.calls;
  const { memory_max: max } = team;
  if (max !== bounded) openStore(ctx, scopeOf(ctx.address[1]), { max: max ?? LIVE_ITEMS_MAX });
}

/** Without a team nothing can be done: what waits stays, and is tried with the next message. */
function failed({ ctx }: Delivery, code: string | null): void {
  ctx.record('specialists/NotRead@1', { code: code ?? 'no_team' });
}

function skillsSeen(delivery: Delivery, { version, changed, removed, afresh, models, invalid }: SkillsSeen): void {
  const { state, ctx } = delivery;
  const skills = delivery.ctx.table('skills');
  if (afresh) for (let first = skills.first(); first !== undefined; first = skills.first()) skills.delete(first[0]);
  for (const name of removed) skills.delete(name);
  for (const skill of changed) skills.set(skill.name, skill);
  const known = delivery.ctx.table('models');
  if (ctx.hash(known.get('models') ?? null) !== ctx.hash(models)) known.set('models', models);
  state.skills = version;
  if (changed.length + removed.length === 0 && !afresh) return;
  const names = changed.map(({ name }) => name);
  ctx.record('specialists/SkillsSeen@1', {
    version,
    changed: names.slice(0, NAMED_MAX),
    removed: removed.slice(0, NAMED_MAX),
    invalid,
  });
}

const NAMED_MAX = 64;
