/** The launch of a node: its prompt was composed, and goes to its session as an input. */
import { type Adopted, SESSION_REDUCER, type UserInput } from '@reprise/agent/contracts';
import { type Address, present, type Ref, type Value } from '@reprise/contracts';
import type { EventValue } from '@reprise/kernel/define';
import { key, limitOf, type MadeNews, makeWithRights, type makingNews } from '@reprise/org/contracts';
import type { Carried, NodeRow, Phase, treeNews } from '../../contracts/index.js';
import { passUpAll, questionsLaunched } from '../ask/route.js';
import { askOf, changeAsk } from '../ask/rows.js';
import type { Delivery } from '../delivery/delivery.js';
import { dropDraft } from '../delivery/drafts.js';
import { isEnded, type ReadNode } from '../delivery/nodes.js';
import { unitOf } from '../delivery/spending.js';
import { isPaused, variantFor } from '../delivery/standing.js';
import { waitAgain } from '../node/end-node.js';
import { rightsToSet } from '../node/rights.js';
import { giveBack, moveRun } from '../node/runs.js';
import { answeringEnded, failAttempt } from './run-end.js';

type Composed = EventValue<typeof treeNews, 'tree/Composed@1'>;

/** Begins the tag of an input, whose refusal comes back with it. */
export const INPUT_TAG = 'input';

/** Takes a composed prompt: the run begins, unless its node has ended, is paused, or needs its rights first. */
export function launchComposed(delivery: Delivery, composed: Composed): void {
  const row = delivery.nodes.change(composed.n);
  if (row.run !== 'composing' || row.launch !== composed.launch || isEnded(row)) {
    return delivery.ctx.record('tree/Late@1', { n: row.n, what: 'tree/Composed@1', launch: composed.launch });
  }
  row.plan = null;
  if (composed.text_ref === null) return launchFailed(delivery, row, composed.code ?? 'no_prompt');
  if (isPaused(delivery, row)) return putAside(delivery, row);
  begin(delivery, row, composed.carries, composed.text_ref);
}

/**
 * The session of a launch has its rights, or cannot have them: then it does not begin.
 *
 * @param news what an event says of a cell on its way to its rights; `other` when it is about something else
 * @returns whether the event was about one
 */
export function rightsNews(delivery: Delivery, news: ReturnType<typeof makingNews>): boolean {
  if (news !== undefined && news !== 'other') rightsStand(delivery, news);
  return news !== 'other';
}

function rightsStand(delivery: Delivery, news: MadeNews): void {
  const [n = 0, launch] = news.tag.split('.').map(Number);
  const row = delivery.nodes.change(n);
  const launching = delivery.ctx.table('launching').get(key(n));
  if (launching === undefined || launching.launch !== launch || row.run !== 'composing' || row.launch !== launch)
    return;
  delivery.ctx.table('launching').delete(key(n));
  if (!news.made) return launchFailed(delivery, row, `rights/${news.code}`.slice(0, 96));
  if (row.session !== null) delivery.ctx.table('granted').set(row.session, launching.rights);
  if (isPaused(delivery, row)) return putAside(delivery, row);
  begin(delivery, row, launching.carries, launching.text_ref);
}

/** A run that could not begin. One that was to answer only does not begin again for the same questions: they go up. */
function launchFailed(delivery: Delivery, row: NodeRow, code: string): void {
  giveBack(delivery, row);
  moveRun(delivery, row, 'none');
  if (!row.answering) return failAttempt(delivery, row, code);
  passUpAll(delivery, row);
  answeringEnded(delivery, row);
}

/** The node was paused while its prompt was composed: it is launched anew after the pause. */
function putAside(delivery: Delivery, row: NodeRow): void {
  giveBack(delivery, row);
  moveRun(delivery, row, 'none');
  if (!row.answering) row.status = 'pending';
  delivery.ctx.table('held').set(key(row.n), null);
  waitAgain(delivery, row);
}

/** Begins a run: its session is told its definition together with its input, as soon as its rights stand. */
function begin(delivery: Delivery, row: NodeRow, carries: Carried, text_ref: Ref): void {
  const { ctx } = delivery;
  const { n, launch } = row;
  const session = sessionOf(delivery, row);
  const to: Address = [SESSION_REDUCER, session];
  const adoption = adoptionOf(delivery, row);
  const rights = rightsToSet(delivery, row, session);
  if (rights !== undefined) {
    delivery.ctx.table('launching').set(key(n), { launch, rights, text_ref, carries });
    return makeWithRights(ctx, { to, making: adoption, rights: { exercise: rights }, tag: `${n}.${launch}` });
  }
  const input = inputOf(row, text_ref);
  ctx.send(to, { ...adoption, value: { ...adoption.value, input } }, refusalOf(row));
  hasBegun(delivery, row, session, text_ref, carries);
}

/** The definition that a session works by in its next run. */
function adoptionOf(
  delivery: Delivery,
  row: NodeRow,
): { readonly name: string; readonly value: Readonly<Record<string, Value>> } {
  const agent = delivery.ctx.table('agents').get(row.agent) ?? delivery.ctx.reject('unknown_agent');
  const variant = agent.variants[variantFor(delivery, row)];
  const base = variant === undefined ? agent.adopted : { ...agent.adopted, def_ref: variant.def_ref };
  const config = { ...base.config, ...toolsOf(variant), limits: limitsOf(delivery, row, base) };
  return {
    name: 'aos.agent/AgentAdopted@1',
    value: {
      def_ref: base.def_ref,
      config: { ...config, after_answer: 'complete' },
      adopt: 'next_run',
      agents: agent.agents ?? [],
      ...(row.runs === 0 ? { depth: 0, tell_owner: 'after_start', labels: labelsOf(delivery, row) } : {}),
    },
  };
}

/** The input of a launch. */
function inputOf(row: ReadNode, text_ref: Ref): UserInput {
  return {
    command_id: `launch.${row.launch}`,
    parts: [{ kind: 'text', text_ref }],
    priority: 0,
    cause: { kind: 'app', reason: `tree ${phaseOf(row)}` },
  };
}

function refusalOf({ n, launch }: ReadNode): { readonly reply: 'refusal'; readonly tag: string } {
  return { reply: 'refusal', tag: `${INPUT_TAG}.${n}.${launch}` };
}

function phaseOf({ answering, phase }: ReadNode): Phase {
  return answering ? 'answer' : phase;
}

/** The input of a launch was sent: its run begins. */
function hasBegun(delivery: Delivery, row: NodeRow, session: string, text_ref: Ref, carries: Carried): void {
  const { ctx } = delivery;
  const phase = phaseOf(row);
  const { n, launch, gen, attempt } = row;
  ctx.record('tree/Launched@1', {
    n,
    launch,
    phase,
    gen,
    attempt,
    session,
    run: row.runs,
    prompt_ref: text_ref,
    inputs: carries.inputs,
  });
  row.runs++;
  if (!row.answering) {
    dropDraft(delivery, row.n);
    row.unfinished = null;
  }
  moveRun(delivery, row, 'live');
  delivery.nodes.launched(row);
  received(delivery, row, carries);
}

/** The session of a node; its first, and another after it was given one anew. */
function sessionOf(delivery: Delivery, row: NodeRow): string {
  if (row.session !== null) return row.session;
  const [, tree] = delivery.ctx.address;
  row.sessions++;
  row.runs = 0;
  row.session = row.sessions === 1 ? `${tree}/${row.n}` : `${tree}/${row.n}~${row.sessions}`;
  delivery.ctx.table('sessions').set(row.session, row.n);
  return row.session;
}

function labelsOf({ state, ctx }: Delivery, row: NodeRow): Record<string, string> {
  return { ...state.labels, tree: ctx.address[1], node: String(row.n) };
}

function toolsOf(variant: { tools_ref: Adopted['config']['tools_ref']; tools_bytes?: number } | undefined): object {
  if (variant === undefined) return {};
  return present({ tools_ref: variant.tools_ref, tools_bytes: variant.tools_bytes });
}

/** The limits of the agent, narrowed by what is set aside for the run and by the node's own time limit. */
function limitsOf(delivery: Delivery, row: NodeRow, { config }: Adopted): Adopted['config']['limits'] {
  const { limits } = config;
  const unit = limitOf({ unit: unitOf(delivery) });
  return present({
    ...limits,
    [unit]: least(limits[unit], row.reserved === 0 ? undefined : row.reserved),
    max_wall_ms: least(limits.max_wall_ms, row.timeout_ms ?? undefined),
  });
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}

/** What stands in the prompt has been received; questions that came while it was composed are told now. */
function received(delivery: Delivery, row: NodeRow, { answers, questions, told }: Carried): void {
  for (const n of answers) changeAsk(delivery, n, { ...askOf(delivery, n), call: null, passed: true });
  for (const text of told) delivery.ctx.table('told').delete(text);
  questionsLaunched(delivery, row, questions);
}
