/**
 * The actor of a message, a decision, an answer or a verdict: who did it, as data. A principal says whose rights
 * counted; an actor says whether a person, a rule, a program or a node of an organization acted.
 */
import { isFields, isFilled, requireArgument } from '../errors/arguments.js';
import * as z from '../schema/index.js';
import type { Principal } from './principal.js';

const id = z.string().min(1).max(512);

/** One actor. A rule acts by the grant of a person: `granted_by` names who set it up, null for the author of the app. */
const ONE = [
  z.strictObject({ kind: z.literal('person'), id }),
  z.strictObject({ kind: z.literal('rule'), id, granted_by: z.nullable(id) }),
  z.strictObject({ kind: z.literal('program'), id }),
  z.strictObject({ kind: z.literal('node'), id }),
] as const;

/** One actor, as `several` lists them. */
export const singleActor = z.discriminatedUnion('kind', ONE);

/** One actor, as `several` lists them. */
export type SingleActor = z.infer<typeof singleActor>;

/** Who acted: a person, a rule, a program, a node, or several of them together. */
export const actor = z.discriminatedUnion('kind', [
  ...ONE,
  z.strictObject({ kind: z.literal('several'), of: z.array(singleActor).min(2).max(64) }),
]);

/** Who acted: a person, a rule, a program, a node, or several of them together. */
export type Actor = z.infer<typeof actor>;

/**
 * The largest actor that a request or a command states, in canonical bytes: what remains of every decided effect holds
 * the actor for the life of its world.
 */
export const ACTOR_BYTES_MAX = 1024;

/**
 * The actor of a request or a command: the one that it states, or the one that follows from its principal. `human:ann`
 * is the person `ann`; the operator, a cell and an adapter are programs, since no person is named.
 */
export function actorOf(principal: Principal, stated?: Actor): Actor {
  requireArgument(isFilled(principal), 'actorOf(principal)', 'a principal, such as human:ann', principal);
  if (stated !== undefined) return stated;
  const person = personOf(principal);
  return person === undefined ? { kind: 'program', id: principal } : { kind: 'person', id: person };
}

/**
 * Whether a principal may state an actor. A person speaks for itself alone, and for rules that it granted or that the
 * app's author set up; an adapter never speaks for a person. The operator and cells are code of the app, which knows
 * who acted.
 */
export function mayState(principal: Principal, stated: Actor): boolean {
  if (principal === 'operator' || principal.startsWith('cell:')) return true;
  const own = personOf(principal);
  return peopleIn(stated).every((id) => id === own);
}

/**
 * An actor in words for people: `ann`, `rule always:bash (granted by ann)`, `program nightly`, `node review`. A name that
 * could be read as something else is quoted. Escape the words before they reach a terminal.
 */
export function actorWords(given: Actor): string {
  const fits = isFields(given) && isFilled(given.kind);
  requireArgument(fits, 'actorWords(actor)', "an actor, such as { kind: 'person', id: 'ann' }", given);
  switch (given.kind) {
    case 'person':
      return personWords(given.id);
    case 'rule':
      return `rule ${word(given.id)}${given.granted_by === null ? '' : ` (granted by ${personWords(given.granted_by)})`}`;
    case 'program':
      return given.id === OPERATOR ? OPERATOR : `program ${word(given.id)}`;
    case 'node':
      return `node ${word(given.id)}`;
    case 'several':
      return given.of.map(actorWords).join(', ');
    default:
      return given satisfies never;
  }
}

const OPERATOR = 'operator';
const PERSON = 'human:';

/** A person's name cannot be taken for the operator, for the word of another kind, or for more than one name. */
function personWords(id: string): string {
  const known = [OPERATOR, 'kernel', 'model', 'nobody'].includes(id);
  return PLAIN.test(id) && !known ? id : `person ${JSON.stringify(id)}`;
}

function word(id: string): string {
  return /^[^\s"'(),]+$/.test(id) ? id : JSON.stringify(id);
}

const PLAIN = /^[^\s"'():,]+$/;

function personOf(principal: Principal): string | undefined {
  return principal.startsWith(PERSON) ? principal.slice(PERSON.length) : undefined;
}

/** The people that an actor names: those who acted, and those who granted a rule. */
function peopleIn(given: Actor): string[] {
  if (given.kind === 'several') return given.of.flatMap(peopleIn);
  if (given.kind === 'person') return [given.id];
  return given.kind === 'rule' && given.granted_by !== null ? [given.granted_by] : [];
}
