/** `reprise tree answer | stop | pause | resume | retry | add | tell`: acts on a tree, also of another process. */
import { randomUUID } from 'node:crypto';
import { principal, RepriseError, type Value } from '@reprise/contracts';
import { optionsOf, type TreeView, treesAt } from '@reprise/tree';
import { askOwner, isProgramHere } from '@reprise/tree/serve';
import type { Io } from '../../process/io.js';
import { toJson } from '../../text/json.js';
import { type Act, type ActDone, type ActVerb, performAct, wordsOfDone } from '../../tree/act.js';
import { TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { openOwner, requireOwnFile, setupOf, whileHeld } from '../../tree/owner.js';
import { nodeOf, parseNode, treeNamed } from '../../tree/target.js';
import { tokenIn } from '../../tree/token.js';
import { withWorld } from '../../world/open.js';

/** The options of an act. */
export interface ActOptions {
  readonly world: string;
  /** Who acts, such as `human:ann`. */
  readonly as?: string;
  /** The program that acts with those rights, in place of the person. */
  readonly program?: string;
  readonly id?: string;
  /** The file with the token of the process that runs the tree; `-` is standard input. */
  readonly tokenFile?: string;
  readonly agent?: string;
  readonly fresh?: true;
  /** The budget of the new node in dollars. */
  readonly budget?: number;
  readonly json?: true;
}

/** Acts on a node: through the process that runs the tree, or on the world when no process has it. */
export async function actOn(
  io: Io,
  verb: ActVerb,
  named: string,
  text: string | undefined,
  options: ActOptions,
): Promise<TreeExitCode> {
  const target = parseNode(named);
  const tree = await withWorld(options.world, async (store) => treeNamed(await treesAt(store), target.tree));
  nodeOf(tree, target.n);
  const act: Act = {
    ...{ verb, tree: tree.name, n: target.n, id: options.id ?? randomUUID() },
    ...(text === undefined ? {} : { text: verb === 'answer' ? answerOf(tree, target.n, text) : wordsIn(text) }),
    ...(options.as === undefined ? {} : { as: principalOf(options.as) }),
    ...(options.program === undefined ? {} : { actor: { kind: 'program', id: options.program } }),
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    ...(options.fresh === true ? { fresh: true } : {}),
    ...(options.budget === undefined ? {} : { budget: { usd: options.budget } }),
  };
  const token = options.tokenFile === undefined ? undefined : await tokenIn(options.tokenFile);
  const done = await perform(options.world, tree, act, token);
  if (options.json === true)
    await io.out.write(`${toJson({ ...done, verb, tree: tree.name, node: nodeIn(done, target.n) })}\n`);
  else if (isDone(done)) await io.out.write(`${wordsOfDone(verb, tree.name, target.n, done)}\n`);
  else await io.err.write(`${refusal(done, tree, target.n)}\n`);
  return isDone(done) ? TREE_EXIT.complete : TREE_EXIT.usage;
}

/** Performs an act: through the process that runs the tree, or alone when no process does. */
export async function perform(world: string, tree: TreeView, act: Act, token?: string): Promise<ActDone> {
  requireOwnFile(world);
  const { verb, ...args } = act;
  return whileHeld(world, async () => {
    const options = token === undefined ? {} : { token };
    const said = await askOwner(world, verb, args as unknown as Value, options);
    if (said === undefined) return alone(world, tree, act);
    if (said.ok) return said.value as unknown as ActDone;
    throw refusedBy(said.code, said.message.replace(`${said.code}: `, ''));
  });
}

function refusedBy(code: string, message: string): RepriseError {
  if (code !== 'cap_denied') return new RepriseError(code as never, message);
  return new RepriseError('cap_denied', message, {
    hint: 'Act from a terminal. A script gives the token that reprise tree run --print-token prints: --token-file FILE.',
  });
}

/** No process listens: opens the world, acts, and closes it. What the act starts waits for `reprise tree continue`. */
async function alone(world: string, tree: TreeView, act: Act): Promise<ActDone> {
  requirePerson();
  await using owner = await openOwner(world, setupOf(tree), 'manual');
  return await performAct(owner, act);
}

/** Refuses a program of agents: it acts by its own tools, and as nobody else. */
function requirePerson(): void {
  if (!isProgramHere()) return;
  throw new RepriseError('cap_denied', 'a program of agents does not act as a person', {
    where: 'REPRISE_OWNER',
    reason: 'a program of agents started this command',
    hint: 'Let a person run it, in a terminal of their own.',
  });
}

/** An answer: one of the options, or its number. */
function answerOf(tree: TreeView, n: number, text: string): string {
  const ask = tree.asks.get(n);
  if (ask === undefined)
    throw new RepriseError('invalid_argument', 'this node is no question', {
      actual: `${tree.name}/#${n}`,
      hint: 'reprise tree show prints the open questions and their numbers.',
    });
  const options = optionsOf(ask);
  if (options.length === 0 || options.includes(text)) return wordsIn(text);
  const numbered = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined;
  const short = ask.returns === 'boolean' ? { true: 'yes', false: 'no' }[text] : undefined;
  const found = numbered ?? short;
  if (found !== undefined) return found;
  throw new RepriseError('invalid_argument', 'this is not one of the options', {
    where: `${tree.name}/#${n}`,
    expected: options.map((option, i) => `${i + 1} or "${option}"`).join(', '),
    actual: text,
  });
}

function wordsIn(text: string): string {
  if (text.trim() !== '') return text;
  throw new RepriseError('invalid_argument', 'the text is empty', { expected: 'words' });
}

/**
 * Who acts, as the user named them.
 *
 * @throws RepriseError `invalid_argument`
 */
export function principalOf(text: string): string {
  if (principal.safeParse(text).success) return text;
  throw new RepriseError('invalid_argument', 'this is no principal', {
    where: '--as',
    expected: 'human:NAME',
    actual: text,
  });
}

function nodeIn(done: ActDone, n: number): number {
  return 'node' in done ? done.node : n;
}

/** Whether the act took place. */
function isDone({ status }: ActDone): boolean {
  return status === 'accepted' || status === 'applied';
}

function refusal(done: ActDone, tree: TreeView, n: number): string {
  const words = wordsOfDone('answer', tree.name, n, done);
  return `${words}\n  where       ${tree.name}/#${n}\n  what to do  reprise tree show ${tree.name}/${n} says how it stands.`;
}
