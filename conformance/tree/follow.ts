/** Leads the oracle along the events that a tree takes, and compares what both say. */
import { treeFacts } from '@reprise/tree';
import { valueAs } from '../staged-values.js';
import {
  type AskedOf,
  type Child,
  type Needed,
  nameOfNode,
  type RunEnd,
  type Terms,
  type Use,
  type Verdict,
} from './oracle/node.js';
import type { Oracle } from './oracle/oracle.js';
import { type Delivered, oneByOne, type StagedEvent } from './stage.js';

/** A node as the tree stores it: what is compared. */
export interface Row {
  readonly n: number;
  readonly type: string;
  readonly status: string;
  readonly run: string;
  readonly phase: string;
  readonly gen: number;
  readonly since?: number;
  readonly attempt: number;
  readonly launch: number;
  readonly paused: boolean;
  readonly code: string | null;
  readonly stopped_by?: unknown;
  readonly budget: number | null;
  readonly spent: { readonly tokens: number; readonly micro_money: number };
  readonly reserved?: number;
}

/** The tree and the oracle differ. */
export class Differs extends Error {}

/** Tells the oracle of a delivery, and compares the verdicts and who acted. */
export function follow(oracle: Oracle, delivered: Delivered): void {
  followEvent(oracle, delivered);
  for (const fact of delivered.facts) sameActor(oracle, fact, delivered);
}

function followEvent(oracle: Oracle, delivered: Delivered): void {
  const { event, rejected } = delivered;
  const calls = oneByOne(event, 'aos.agent/OwnerCall');
  if (calls.length > 0) {
    for (const call of calls) followCall(oracle, { ...delivered, event: call });
    return;
  }
  const command = COMMANDS[event.name];
  if (command !== undefined) {
    return sameVerdict(event.name, command(oracle, event.value, nameOfActor(delivered.actor)), rejected);
  }
  const heard = NEWS[event.name];
  if (heard === undefined) throw new Differs(`the oracle does not know ${event.name}`);
  heard(oracle, event.value);
  sameVerdict(event.name, undefined, rejected);
}

// biome-ignore lint/suspicious/noExplicitAny: the values of all events
type Given = any;

/** What is not refused. */
const NEWS: Readonly<Record<string, (oracle: Oracle, value: Given) => void>> = {
  'tree/Start@1': () => undefined,
  'org/Rest@1': () => undefined,
  'tree/Composed@1': (oracle, { n, launch, code }) => oracle.composed(n, launch, code),
  'tree/Checked@1': (oracle, { n, launch, call, given, problems_ref }) => {
    const found = given !== null ? 'ok' : problems_ref !== null ? 'wrong' : 'failed';
    oracle.checked(n, launch, call === null ? null : call.call_id, found);
  },
  'tree/Questioned@1': (oracle, { ask, to, text_ref }) => oracle.questioned(ask, to, text_ref !== null),
  'tree/PeopleAnswered@1': (oracle, { ask, by }) => oracle.unanswered(ask, by === null ? undefined : nameOfActor(by)),
  'sys/TimerFired@1': (oracle, { name }) => {
    const [what, n] = String(name).split('.');
    if (what === 'ask') oracle.unanswered(Number(n));
    if (what === 'program') oracle.programGoesOn(Number(n));
  },
  'aos.agent/ChildNotice@1': (oracle, { session, run, news }) => {
    const { node, isCurrent } = placeOf(oracle, session, run);
    if (news.kind === 'waiting' && isCurrent) oracle.runWaits(node);
    if (news.kind !== 'settled') return;
    if (isCurrent)
      oracle.runEnded(node, howOf(news.stop), news.output_ref !== null, usedIn(oracle, news), codeOfStop(news.stop));
    else oracle.lateEnd(node, usedIn(oracle, news));
  },
  'tree/Limit@1': (oracle, { limits, budget }) => oracle.limit((limits ?? {}) as Partial<Terms>, budget),
};

/** The commands, which may be refused. */
const COMMANDS: Readonly<Record<string, (oracle: Oracle, value: Given, by: string) => Verdict>> = {
  'tree/Stop@1': (oracle, { node }, by) => oracle.stop(node, 'people', by),
  'tree/Pause@1': (oracle, { node }) => oracle.pause(node, true),
  'tree/Resume@1': (oracle, { node }) => oracle.pause(node, false),
  'tree/Retry@1': (oracle, { node, ...how }) => oracle.retry(node, how),
  'tree/Modify@1': (oracle, { node, ...change }) => oracle.modify(node, change),
  'tree/Add@1': (oracle, { parent, type, nodes }) =>
    oracle.make(
      parent,
      nodes.map((spec: Given) => childOf(type, spec)),
    ),
  'tree/Answer@1': (oracle, { ask, picked }, by) => oracle.answer(ask, 'people', picked, by),
  'tree/Tell@1': (oracle, { node }) => {
    const to = oracle.nodes[node - 1];
    if (to === undefined) return ['unknown_node'];
    if (to.ended) return ['node_ended'];
    return to.type === 'ask' || to.type === 'serial' ? ['illegal_transition'] : undefined;
  },
};

/** Names an actor as the oracle does: a node of the tree by its number, everybody else by all that is said of it. */
export function nameOfActor(actor: Given): string {
  const n = actor?.kind === 'node' ? /\/(\d+)$/.exec(actor.id)?.[1] : undefined;
  if (n !== undefined) return nameOfNode(Number(n));
  return actor === null ? 'nobody' : `${actor.kind} ${actor.id}, granted by ${actor.granted_by ?? 'nobody'}`;
}

function namesOfActor(actor: Given): string[] {
  if (actor === null) return [];
  return actor.kind === 'several' ? actor.of.map(nameOfActor) : [nameOfActor(actor)];
}

/** Compares who acted as a fact states it with who acted. @throws Differs words of one party recorded as another's */
function sameActor(oracle: Oracle, fact: StagedEvent, { event, actor, sender }: Delivered): void {
  const answered = valueAs(fact, [treeFacts, 'tree/Answered@1']);
  if (answered !== undefined) {
    const [found, want] = [namesOfActor(answered.by), oracle.at(answered.ask).question?.by ?? []];
    if (String(found) !== String(want))
      throw new Differs(`#${answered.ask} is answered by ${String(found)}; the oracle: ${String(want)}`);
  }
  const act = valueAs(fact, [treeFacts, 'tree/Acted@1']);
  if (act === undefined) return;
  const acted = nameOfActor(act.by);
  const isOwn = actor === null && acted === nameOfNode(Number(/\/(\d+)/.exec(String(sender?.[1]))?.[1]));
  if (actor === null ? !isOwn : acted !== nameOfActor(actor))
    throw new Differs(`${event.name} is recorded as an act of ${acted}`);
}

/** The end of a run in the oracle's words. */
export function howOf(stop: Given): RunEnd {
  if (stop.kind === 'Completed') return 'completed';
  if (stop.kind === 'Cancelled') return 'cancelled';
  if (stop.kind === 'Failed') return 'failed';
  if (stop.limit === 'max_wall_ms') return 'timeout';
  return stop.limit === 'max_tokens' || stop.limit === 'max_micro_money' ? 'max_cost' : 'limit';
}

/** What a run used. It may be more than was reported when it is not known how the run ended. */
function usedIn({ purse }: Oracle, { tally, stop }: Given): Use {
  const tokens = tally.tokens_in + tally.tokens_out;
  const amount = purse.unit === 'tokens' ? tokens : tally.micro_money;
  const isUnknown = /^(outcome_unknown|adapter_timeout)/.test(stop.code ?? '') || stop.limit === 'max_wall_ms';
  return { amount, isKnown: !isUnknown && (tokens > 0 || tally.steps === 0) };
}

/** The code that the end of a run states itself. */
function codeOfStop({ kind, code, limit }: Given): string | undefined {
  if (kind === 'Failed') return code.slice(0, 96);
  return kind === 'LimitsExceeded' && howOf({ kind, limit }) === 'limit' ? `limit/${limit}` : undefined;
}

function childOf(type: 'spawn' | 'fork', { blocked_by = [], priority = 0, budget }: Given): Child {
  return { type, needs: needsOf(blocked_by), priority, ...(budget === undefined ? {} : { budget }) };
}

/** The needs as a list; of two edges to one node the last counts. */
function needsOf(given: readonly Given[]): Needed[] {
  const edges = given.map((need) => (typeof need === 'number' ? { node: need } : need));
  const last = new Map(edges.map(({ node, on_failure }) => [node, { on: node, block: on_failure !== 'continue' }]));
  return [...last.values()];
}

/** The node of a session, and whether this is its current run. */
function placeOf(
  oracle: Oracle,
  session: string,
  run: number | null,
): { readonly node: number; readonly isCurrent: boolean } {
  const [, number = '', again = '1'] = /\/(\d+)(?:~(\d+))?$/.exec(session) ?? [];
  const node = Number(number);
  const { sessions, inputs, run: under } = oracle.at(node);
  const isRunning = under === 'live' || under === 'waiting' || under === 'draining';
  return { node, isCurrent: isRunning && sessions === Number(again) && (run === null || run === inputs - 1) };
}

function followCall(oracle: Oracle, { event, answers, rejected }: Delivered): void {
  const { session, call_id, name, args } = event.value as Given;
  if (name.startsWith('read_')) return; // reading changes nothing, and is always permitted
  const { node, isCurrent } = placeOf(oracle, session, null);
  const verdict = oracle.at(node).ended
    ? ['node_ended']
    : isCurrent
      ? callOf(oracle, node, call_id, name, args)
      : ['stale_launch'];
  if (rejected !== undefined) throw new Differs(`${name} of #${node} is rejected: ${rejected}`);
  const answer = answers.find(({ value }) => (value as Given).call_id === call_id);
  if (answer === undefined) {
    const mayWait = verdict === 'checking' || (verdict === undefined && name === 'ask');
    if (!mayWait) throw new Differs(`${name} of #${node} is not answered; the oracle: ${String(verdict)}`);
  } else {
    if (verdict === 'checking') throw new Differs(`${name} of #${node} is answered before it is checked`);
    sameVerdict(`${name} of #${node}`, verdict, codeOf(answer));
  }
}

function codeOf({ value }: StagedEvent): string | undefined {
  const { is_error, value: said } = value as Given;
  return is_error ? String(said.code ?? 'no_result') : undefined;
}

function callOf(oracle: Oracle, n: number, call_id: string, name: string, args: Given): Verdict | 'checking' {
  switch (name) {
    case 'spawn':
    case 'fork':
      return oracle.make(n, [childOf(name, args)]);
    case 'serial':
      return oracle.serial(n, args.steps.length, needsOf(args.blocked_by ?? []), args.result === 'list');
    case 'complete':
      return oracle.complete(n, call_id, givenBy(args));
    case 'ask':
      return oracle.ask(n, (args.target ?? 'human') as AskedOf, {
        deadline: args.deadline_seconds ?? null,
        options: args.options ?? [],
        preset: args.default === undefined ? null : args.options.indexOf(args.default),
      });
    case 'answer':
      return oracle.answer(args.ask_id, n, args.picked);
    case 'stop':
      return oracle.stop(args.node_id, n);
    default:
      return ['unknown_tool'];
  }
}

function givenBy({ text, value_ref }: Given): 'text' | 'value' | 'nothing' {
  if (text !== undefined) return 'text';
  return value_ref === undefined ? 'nothing' : 'value';
}

function sameVerdict(what: string, verdict: Verdict | 'checking', code: string | undefined): void {
  if (verdict === undefined && code !== undefined)
    throw new Differs(`${what} is refused: ${code}; the oracle accepts it`);
  if (verdict === undefined || verdict === 'checking') return;
  if (code === undefined) throw new Differs(`${what} is accepted; the oracle refuses it: ${verdict.join(', ')}`);
  if (!verdict.includes(code)) throw new Differs(`${what} is refused: ${code}; the oracle: ${verdict.join(', ')}`);
}

/** When a node above, a need of it, or the budget end together, either may be said of it. */
const TOGETHER = ['parent_ended', 'blocked_failed', 'child_failed', 'max_cost'];

/** Compares all nodes. @throws Differs the first difference */
export function compare(oracle: Oracle, rows: readonly Row[], status: string): void {
  if (rows.length !== oracle.nodes.length)
    throw new Differs(`${rows.length} nodes; the oracle has ${oracle.nodes.length}`);
  for (const row of rows) {
    const node = oracle.at(row.n);
    if (TOGETHER.includes(`${node.code}`) && TOGETHER.includes(`${row.code}`) && node.parent?.ended) {
      node.code = row.code;
      node.status = row.status as typeof node.status;
    }
    const want = { type: node.type, status: node.status, run: node.run, gen: node.gen, paused: node.paused };
    same(row, want);
    const by = row.stopped_by === undefined ? null : nameOfActor(row.stopped_by);
    if (by !== node.stoppedBy) throw new Differs(`#${row.n} is stopped by ${by}; the oracle: ${node.stoppedBy}`);
    if (node.type === 'ask') continue;
    same(row, { launch: node.launch, attempt: node.attempt, code: node.code, budget: node.budget });
    const spent = row.spent[oracle.purse.unit];
    if (spent !== node.spent) throw new Differs(`#${row.n} has spent ${spent}; the oracle: ${node.spent}`);
    if (row.reserved !== undefined) same(row, { reserved: node.reserved });
    if (node.type !== 'serial' && !node.ended) same(row, { phase: node.phase });
    if (row.since !== undefined && node.type !== 'serial' && !node.ended)
      same({ ...row, since: Math.min(1, row.since) }, { since: Math.min(1, node.since) });
  }
  if (status !== oracle.status) throw new Differs(`the tree is ${status}; the oracle: ${oracle.status}`);
}

function same(row: Row, want: Partial<Row>): void {
  for (const [field, value] of Object.entries(want)) {
    const found = row[field as keyof Row];
    if (found !== value) throw new Differs(`#${row.n} has the ${field} ${found}; the oracle: ${value}`);
  }
}
