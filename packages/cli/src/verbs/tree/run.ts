/** `reprise tree run` and `reprise tree continue`: this process runs a tree until it ends, or the user leaves. */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { type Money, RESULT_TYPES, type TreeFold, type TreeView, treesAt } from '@reprise/tree';
import { hasOwner } from '@reprise/tree/serve';
import { type Io, sayInspect } from '../../process/io.js';
import { AGENTS, programVersion } from '../../tree/agents.js';
import { exitOf } from '../../tree/exit.js';
import { type Goal, readGoal } from '../../tree/goal.js';
import { modelOf } from '../../tree/models.js';
import {
  labelsOf,
  openOwner,
  requireFolder,
  requireOwnFile,
  type Setup,
  setupOf,
  type TreeOwner,
  whileHeld,
} from '../../tree/owner.js';
import { RULES } from '../../tree/rules/rules-model.js';
import { parseTreeName, treeNamed } from '../../tree/target.js';
import { isThere, withWorld } from '../../world/open.js';
import { followTree } from './follow.js';

/** The options of `tree run`. */
interface RunTreeOptions {
  readonly world: string;
  readonly name?: string;
  readonly agent: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly price?: { readonly in: number; readonly out: number };
  /** The budget of each node in dollars. */
  readonly budget?: number;
  /** The budget of all nodes together in dollars. */
  readonly treeBudget?: number;
  readonly parallel?: number;
  readonly returns: string;
  readonly folder: string;
  readonly asks: string;
  readonly printToken?: true;
  readonly plain?: true;
  readonly json?: true;
}

const PEOPLE = ['human', 'default', 'fail'] as const;

/** Starts a tree and runs it. */
export async function runTree(io: Io, argument: string, options: RunTreeOptions): Promise<number> {
  requireOwnFile(options.world);
  const goal = readGoal(argument);
  const setup: Setup = {
    agent: oneOf('--agent', AGENTS, options.agent),
    folder: requireFolder(options.folder),
    model: options.model ?? RULES,
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
    ...(options.price === undefined ? {} : { price: options.price }),
  };
  const asks = oneOf('--asks', PEOPLE, options.asks);
  const returns = oneOf('--returns', RESULT_TYPES, options.returns);
  modelOf(setup, process.env);
  const version = await programVersion(setup.agent);
  const before = (await isThere(options.world)) ? await withWorld(options.world, (store) => treesAt(store)) : undefined;
  const name = nameOf(options.name, goal, before);
  const owner = await opened(options.world, setup, before, name);
  await using _ = owner;
  await printToken(io, owner, options);
  const from = owner.world.kernel.head.seq + 1;
  const { budget, treeBudget, parallel } = options;
  try {
    await owner.trees.start(name, {
      ...goal,
      ...{ returns, asks, labels: labelsOf(setup) },
      budget: { ...(budget === undefined ? {} : { node: { usd: budget } }), ...treeMoney(treeBudget) },
      ...(parallel === undefined ? {} : { limits: { parallel } }),
    });
  } catch (error) {
    throw withRemedy(error);
  }
  if (options.json !== true && version !== undefined) await io.err.write(`${setup.agent}: ${version}\n`);
  return await led(io, owner, { name, ...formOf(options), from }, options.world);
}

/** The options of `tree continue`. */
interface ContinueOptions {
  readonly world: string;
  /** Dollars for all nodes, from now on. */
  readonly treeBudget?: number;
  readonly printToken?: true;
  readonly plain?: true;
  readonly json?: true;
}

/** Goes on with a tree: after Ctrl-C, a crash, or a spent budget. */
export async function continueTree(io: Io, named: string | undefined, options: ContinueOptions): Promise<number> {
  requireOwnFile(options.world);
  const name = named === undefined ? undefined : parseTreeName(named);
  const before = await withWorld(options.world, (store) => treesAt(store));
  const tree = treeNamed(before, name);
  const setup = setupOf(tree);
  const spent = tree.ended !== null && tree.status === 'failed' && options.treeBudget !== undefined;
  if (tree.ended !== null && !spent) {
    await io.err.write(
      `The tree ${tree.name} has ended: ${tree.status}. Its result: reprise tree report ${tree.name}\n`,
    );
    return exitOf(tree);
  }
  const owner = await opened(options.world, setup, before, tree.name);
  await using _ = owner;
  await printToken(io, owner, options);
  const handle = owner.trees.tree(tree.name);
  if (options.treeBudget !== undefined) await handle.limit({ budget: { usd: options.treeBudget } });
  if (spent) await handle.retry(1);
  return await led(io, owner, { name: tree.name, ...formOf(options), from: tree.newest.frame + 1 }, options.world);
}

/** Prints the token that opens the people's door for scripts: once, and nowhere else. */
async function printToken(io: Io, { door }: TreeOwner, options: { readonly printToken?: true }): Promise<void> {
  if (options.printToken === true && door !== undefined) await io.err.write(`token ${door.token}\n`);
}

function formOf({ plain, json }: { readonly plain?: true; readonly json?: true }): { plain: boolean; json: boolean } {
  return { plain: plain === true, json: json === true };
}

/** Opens the world, in which no other tree may be under way: this process would run it as well. */
async function opened(world: string, setup: Setup, before: TreeFold | undefined, name: string): Promise<TreeOwner> {
  const other = [...(before?.trees.values() ?? [])].find((tree) => tree.ended === null && tree.name !== name);
  const open = (): Promise<TreeOwner> => openOwner(world, setup, other === undefined ? 'auto' : 'manual');
  const owner = await whileHeld(world, open, () => hasOwner(world));
  if (other === undefined) return owner;
  await owner[Symbol.asyncDispose]();
  throw unfinished(other, world);
}

function unfinished({ name }: TreeView, world: string): RepriseError {
  return new RepriseError('invalid_argument', 'another tree of this world has not ended', {
    where: world,
    actual: name,
    hint: `Go on with it (reprise tree continue ${name}), end it (reprise tree stop ${name}/1), or name another world: --world FILE.`,
  });
}

/** The name of the tree: the given one, or the first words of the goal, with a number when it is taken. */
function nameOf(given: string | undefined, { goal }: Goal, before: TreeFold | undefined): string {
  const taken = (name: string): boolean => before?.trees.has(name) === true;
  if (given !== undefined) {
    const name = parseTreeName(given);
    if (!taken(name)) return name;
    throw new RepriseError('invalid_argument', 'the world has a tree with this name already', {
      where: '--name',
      actual: name,
      hint: `Choose another name, or go on with that tree: reprise tree continue ${name}.`,
    });
  }
  const words = goal
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    ?.slice(0, 4)
    .join('-')
    .slice(0, 40);
  const base = words === undefined || /^\d+$/.test(words) ? 'tree' : words;
  for (let i = 1; ; i++) {
    const name = i === 1 ? base : `${base}-${i}`;
    if (!taken(name)) return name;
  }
}

function treeMoney(usd: number | undefined): { readonly tree?: Money } {
  return usd === undefined ? {} : { tree: { usd } };
}

function oneOf<T extends string>(where: string, known: readonly T[], actual: string): T {
  const found = known.find((one) => one === actual);
  if (found !== undefined) return found;
  throw new RepriseError('invalid_argument', `unknown value of ${where}`, {
    where,
    expected: known.join(', '),
    actual,
  });
}

/** Says how a price is given here, where a budget in money needs one. */
function withRemedy(error: unknown): unknown {
  if (!isRepriseError(error) || error.details.reason !== 'no_price') return error;
  return new RepriseError('invalid_argument', 'no_price: the model has no price, so a budget in money cannot be kept', {
    where: '--budget, --tree-budget',
    hint: 'Give the price of the model in dollars per million tokens: --price IN,OUT. Or leave the budget out: then nodes have token limits.',
  });
}

/** Follows a tree; at a terminal the last line says how to look at all of it. */
async function led(
  io: Io,
  owner: TreeOwner,
  options: Parameters<typeof followTree>[2],
  world: string,
): ReturnType<typeof followTree> {
  const code = await followTree(io, owner, options);
  if (!options.json) await sayInspect(io, world);
  return code;
}
