/** Asks questions: each is a node below its asker, which awaits an answer of people, of its parent, or of its children. */
import type { CallPlace } from '@reprise/org/contracts';
import { type AskRow, type CallOf, FIXED_OPTIONS, type NodeRow } from '../../contracts/index.js';
import { childrenOf } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { isEnded } from '../delivery/nodes.js';
import { pathToAct } from '../delivery/reach.js';
import { Refused } from '../delivery/refused.js';
import { newRow } from '../node/make.js';
import { parkCall } from './ask-answers.js';
import { putTo, upFrom } from './route.js';
import { askOf, deadlineTimer, programTimer, setAsk } from './rows.js';

/** How long a program's call waits for an answer; then it is told to end its turn. */
const PROGRAM_WAITS_MS = 20_000;

/** Begins the ids of a program's calls. */
const PROGRAM_CALL = 'x.';

/** Asks a question for a node. Its call is answered later. */
export function ask(delivery: Delivery, asker: NodeRow, args: CallOf<'ask'>, call: CallPlace): void {
  const { state, ctx } = delivery;
  const options = optionsOf(args);
  if (asker.asks >= state.limits.asks) throw new Refused('limit_asks', { max: state.limits.asks });
  const given = args.default === undefined ? null : options.indexOf(args.default);
  if (given === -1) throw new Refused('not_an_option', { options });
  const route = routeOf(delivery, asker, args.target ?? 'human');
  if (route.length === 0 && state.people === 'fail') throw new Refused('no_people');
  const deadline = args.deadline_seconds === undefined ? null : ctx.now + args.deadline_seconds * 1_000;
  if (deadline === null) refuseCircle(delivery, asker, route);
  const row = newRow(delivery, { type: 'ask', parent: asker, goal: args.goal, returns: 'text' });
  row.status = 'active';
  asker.asks++;
  state.asks++;
  const asked: AskRow = {
    asker: asker.n,
    call,
    target: args.target ?? 'human',
    route,
    told: [],
    question_ref: args.question_ref,
    text_ref: args.text_ref,
    options,
    returns: args.returns ?? 'text',
    default: given,
    deadline,
    plan: null,
    answers: [],
    outcome: null,
    passed: false,
  };
  setAsk(delivery, row.n, asked);
  if (deadline !== null) ctx.timer(deadlineTimer(row.n), deadline);
  if (call.call_id.startsWith(PROGRAM_CALL)) ctx.timer(programTimer(row.n), ctx.now + PROGRAM_WAITS_MS);
  putTo(delivery, row.n, route);
  if (askOf(delivery, row.n).outcome === null) parkCall(delivery, call);
}

/** The options of a question; those of yes or no, and of an approval, are fixed. */
function optionsOf({ options, returns = 'text' }: CallOf<'ask'>): string[] {
  return [...(FIXED_OPTIONS[returns] ?? options ?? [])];
}

/** The nodes that are to answer; empty for people. */
function routeOf(delivery: Delivery, asker: NodeRow, target: AskRow['target']): number[] {
  if (target === 'human') return [];
  if (target === 'parent') return upFrom(delivery, asker.n);
  const children = childrenOf(delivery, asker.n)
    .filter((row) => row.type !== 'serial' && !isEnded(row))
    .map(({ n }) => n);
  if (target === 'children') {
    if (children.length === 0) throw new Refused('no_children');
    return children;
  }
  if (!children.includes(target)) throw new Refused('not_your_child', { children });
  return [target];
}

function refuseCircle(delivery: Delivery, asker: NodeRow, route: readonly number[]): void {
  for (const to of route) {
    const path = pathToAct(delivery, to, asker.n);
    if (path !== undefined) throw new Refused('would_deadlock', { path: [asker.n, ...path] });
  }
}
