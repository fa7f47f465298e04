/** Refusals of a tree, and what a model can do about each. */
import { Refused as Refusal } from '@reprise/org/contracts';
import type { TreeRefusal } from '../../contracts/commands.js';

/** Thrown before anything is changed, and caught by the one that takes the call or the command. */
export class Refused extends Refusal<TreeRefusal> {}

/** What a model can do about a refusal. */
export const HINTS: Readonly<Partial<Record<TreeRefusal, string>>> = {
  not_your_subtree: 'You may only stop nodes below your own. Ask your parent.',
  not_your_child: 'Ask "parent", "human", "children", or one of your children by its number.',
  would_deadlock: 'These nodes would wait for each other. Leave out the node that waits for you.',
  limit_depth: 'Do the work yourself.',
  limit_generations: 'Give your result now, from what you have.',
  limit_children: 'Give your result, and make more nodes when you are run again.',
  limit_nodes: 'Do the work yourself.',
  limit_asks: 'Decide by yourself, and say so in your result.',
  no_people: 'Nobody can be asked here. Decide by yourself, and say so in your result.',
  no_children: 'You have no children that could answer.',
  not_asked: 'Only the nodes that were asked may answer.',
  already_answered: 'Another answer came first. Go on with your own work.',
  unknown_node: 'Call read_tree for the nodes that exist.',
  over_budget: 'A child has at most your own budget.',
  not_permitted: 'The rights of your node do not permit this tool. Do without it, or ask.',
  illegal_transition: 'Answer the question with the tool answer.',
  node_ended: 'Your node has ended. End your turn.',
  stale_launch: 'This run has been replaced. End your turn.',
};
