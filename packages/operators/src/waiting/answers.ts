/** How a thing that waits is answered: the line for a shell, or for the program that has the world open. */
import type { Owner } from '../names/owner.js';
import type { WaitingItem } from './items.js';

/** What is to be answered. */
interface Answering {
  readonly kind: WaitingItem['kind'];
  readonly of: Owner;
  readonly id?: string;
  /** Who may answer, as a pattern; null where everybody who may act may do it. */
  readonly to?: string | null;
  /** The number of the question, in its tree. */
  readonly ask?: number;
  /** Of a review: the agent that came back. */
  readonly agent?: string;
}

/** How it is answered. @param world the path of the world, as a shell gets it */
export function answerTo(about: Answering, world: string): WaitingItem['answer'] {
  const { kind, of, ask } = about;
  if (kind === 'question' && ask !== undefined)
    return shell(`reprise tree answer ${quoted(`${of.tree ?? ''}/${ask}`)} VALUE`, world);
  if (kind === 'pause' && of.tree !== null && of.node !== null && of.session === null)
    return shell(`reprise tree resume ${quoted(`${of.tree}/${of.node}`)}`, world);
  if (of.project !== null && (kind === 'decision' || (kind === 'input' && isCoordinator(of))))
    return shell(`reprise team run MESSAGE --project ${quoted(of.project)}`, world);
  return { in: 'program', line: lineOf(about) };
}

function lineOf({ kind, of, id = '', agent = '', to = null }: Answering): string {
  const session = `world.session(${literal(of.session ?? '')}, agent)`;
  switch (kind) {
    case 'approval':
      return `await world.decide(${literal(id)}, { approve: true }${signedBy(to)})`;
    case 'question':
      return `await world.decide(${literal(id)}, { answer: VALUE }${signedBy(to)})`;
    case 'outside':
      return `await world.kernel.settle(${literal(id)}, { status: 'ok', payload: VALUE })`;
    case 'input':
    case 'decision':
      return `await ${session}.send(MESSAGE)`;
    case 'limit':
      return `await ${session}.reconfigure({ limits: LIMITS })`;
    case 'pause':
      return `await ${session}.resume()`;
    case 'review':
      return `await person.review(${literal(agent)}, { approve: 'all' })`;
  }
}

/** Who answers: without a name the answer would be recorded as that of the operator. `NAME` stands for the person who copies the line. */
function signedBy(to: string | null): string {
  if (to === null || !to.startsWith('human:')) return '';
  return `, { as: ${literal(to.includes('*') ? 'human:NAME' : to)} }`;
}

/** Whether a session is the one that coordinates its project: it does no task itself. */
function isCoordinator({ result, task }: Owner): boolean {
  return result === null && task === null;
}

function shell(line: string, world: string): WaitingItem['answer'] {
  return { in: 'shell', line: `${line} --world ${quoted(world)}` };
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A text as a program takes it. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
