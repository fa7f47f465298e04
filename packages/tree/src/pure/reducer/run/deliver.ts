/** Handles an event of a tree: what it changes, what follows from that, and what may begin then. */
import { present } from '@reprise/contracts';
import { commanded, leaveRest, ownPlan, takePurpose } from '@reprise/org/contracts';
import { TREE_ENDED, type TreeState } from '../../contracts/index.js';
import { type Delivery, deliveryOf, type TreeContext } from '../delivery/delivery.js';
import { isEnded } from '../delivery/nodes.js';
import { launchReady } from './line.js';
import { passOnWork } from './work.js';

/** Handles an event, passes on what follows from it, and launches what may begin. */
export function deliver(state: TreeState, ctx: TreeContext, act: (delivery: Delivery) => unknown): void {
  const { spent, reserved } = state;
  const delivery = deliveryOf(state, ctx);
  act(delivery);
  const isLeft = goOn(delivery) || ctx.table('work').size > 0;
  delivery.nodes.flush();
  const isSpent = spent.tokens !== state.spent.tokens || spent.micro_money !== state.spent.micro_money;
  if (isSpent || reserved !== state.reserved) {
    ctx.record('tree/Budget@1', { spent: { ...state.spent }, reserved: state.reserved });
  }
  if (isLeft) leaveRest(ctx);
  else endTree(delivery);
}

/** Handles an event that a plan of the tree raised: what the plan was for is over. */
export function fromPlan<V>(act: (delivery: Delivery, value: V) => void) {
  return (state: TreeState, value: V, ctx: TreeContext): void => {
    takePurpose(ctx.table('plans'), ownPlan(ctx));
    deliver(state, ctx, (delivery) => act(delivery, value));
  };
}

/** Handles a command: a refusal undoes what the command did before it. */
export function byCommand<V>(act: (delivery: Delivery, value: V) => void) {
  return (state: TreeState, value: V, ctx: TreeContext): void =>
    commanded(ctx, () => deliver(state, ctx, (delivery) => act(delivery, value)));
}

/** Passes on what follows, and launches what may begin. @returns whether some of it is left, because this delivery is full */
export function goOn(delivery: Delivery): boolean {
  return passOnWork(delivery) || launchReady(delivery);
}

/** Ends the tree when its root has ended, and everything below it. */
function endTree({ state, nodes, ctx }: Delivery): void {
  const root = nodes.get(1);
  if (root === undefined || !isEnded(root) || state.ended !== null) return;
  state.ended = ctx.now;
  state.status = root.status as TreeState['status'];
  const { status, spent, starter } = state;
  const { code, result } = root;
  ctx.record(TREE_ENDED, { status, code, result, spent: { ...spent } });
  if (starter === null || !ctx.takes(starter, TREE_ENDED)) return;
  const value = present({ status, spent: { ...spent }, code: code ?? undefined, result_ref: result?.ref });
  ctx.send(starter, { name: TREE_ENDED, value });
}
