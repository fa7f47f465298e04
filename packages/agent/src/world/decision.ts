/**
 * What a person decides about a pending item, checked where it enters.
 *
 * Decisions come from web forms and scripts as well. A decision that is misread could run a call that a person refused,
 * so anything that does not clearly say one thing is refused.
 *
 * Does not own: whether the decision fits the item, and whether the principal may decide.
 */
import {
  type ArgumentCheck,
  checkOf,
  type ErrorDetails,
  fieldsOf,
  isObject,
  kindOfThing,
  present,
  promiseHint,
  RepriseError,
} from '@reprise/contracts';
import { type Duration, durationMs } from '../contracts/duration.js';

/** A person's decision: exactly one of `approve`, `deny` and `answer`. */
export type Decision =
  | {
      /** Lets the call run. To refuse it, use `deny`; `approve: false` is an error. */
      readonly approve: true;
      /** Edited arguments: checked by the tool, and shown to the model. */
      readonly args?: unknown;
      /** A message to the model. */
      readonly comment?: string;
      /** Approves this tool for this session from now on: until the approval is taken back, or for a limited time. */
      readonly remember?: true | { readonly for: Duration };
    }
  /** Refuses the call. The reason is shown to the model. */
  | { readonly deny: string }
  /** Answers a question. */
  | { readonly answer: unknown };

const CHOICES = ['approve', 'deny', 'answer'] as const;
const FORMS = "one of { approve: true }, { deny: 'the reason' }, { answer: … }";
const DENY_HINT = "To deny the call, pass { deny: 'the reason' }.";

/** The fields that may stand beside each choice. */
const BESIDE: Readonly<Record<(typeof CHOICES)[number], readonly string[]>> = {
  approve: ['args', 'comment', 'remember'],
  deny: [],
  answer: [],
};

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid decision');

/**
 * Reads a decision. A field that is undefined counts as absent.
 *
 * @throws RepriseError `invalid_argument` unless it is exactly one of the forms of {@link Decision}
 */
export function readDecision(thing: unknown): Decision {
  const fields = Object.fromEntries(Object.entries(fieldsOf(thing)).filter(([, value]) => value !== undefined));
  const [choice, ...others] = CHOICES.filter((name) => name in fields);
  if (!isObject(thing) || choice === undefined)
    throw invalidDecision({
      where: 'decision',
      expected: FORMS,
      actual: kindOfThing(thing),
      ...present({ hint: promiseHint(thing) }),
    });
  if (others.length > 0) throw invalidDecision({ expected: FORMS, actual: [choice, ...others].join(' and ') });
  if (choice === 'approve' && fields.approve !== true) {
    throw invalidDecision({ where: 'approve', expected: 'true', actual: fields.approve, hint: DENY_HINT });
  }
  const unknown = Object.keys(fields).filter((name) => name !== choice && !BESIDE[choice].includes(name));
  const allowed = [choice, ...BESIDE[choice]].join(', ');
  require(unknown.length === 0, 'its fields', allowed, unknown.join(', '));
  const { deny = '', comment = '', remember = true } = fields;
  require(typeof deny === 'string', 'deny', 'the reason as text', deny);
  require(typeof comment === 'string', 'comment', 'text', comment);
  require(remember === true || isObject(remember), 'remember', 'true or { for: duration }', remember);
  if (remember !== true) durationMs(fieldsOf(remember).for as Duration, 'remember.for');
  return fields as unknown as Decision;
}

/** The refusal of a decision. */
export function invalidDecision(facts: ErrorDetails): RepriseError {
  return new RepriseError('invalid_argument', 'invalid decision', facts);
}

/** The id of an item, and the digest of what was shown if the item is at hand. */
export function readPending(item: unknown): { readonly id: string; readonly digest?: string } {
  if (typeof item === 'string') return { id: item };
  const { id, digest } = fieldsOf(item);
  if (typeof id === 'string') return { id, ...(typeof digest === 'string' ? { digest } : {}) };
  throw invalidItem(item);
}

const NO_ITEM = 'Take it from `await world.pending()`, which is empty while nothing waits for a person.';

/** An effect's digest, or its first digits; of a question, its number as well. */
const ITEM_ID = /^([0-9a-f]{8,64})(?:\.\d{1,3})?$/;

/** Whether an id names an item: it is the item's, or begins it, with the same number behind it. */
export function namesItem(id: string, item: string): boolean {
  const [digits = id, number] = id.split('.');
  const [all = item, n] = item.split('.');
  return n === number && all.startsWith(digits);
}

/** Refuses what was never the id of an item. @throws RepriseError `invalid_argument` */
export function requireItemId(id: string): void {
  if (!ITEM_ID.test(id)) throw invalidItem(id);
}

function invalidItem(actual: unknown): RepriseError {
  const one = Array.isArray(actual)
    ? 'Decide about one item at a time: `for (const item of await world.pending())`.'
    : undefined;
  return new RepriseError('invalid_argument', 'invalid pending item', {
    where: 'item',
    expected: 'an item of world.pending(), or its id',
    actual: kindOfThing(actual),
    hint: promiseHint(actual) ?? one ?? NO_ITEM,
  });
}
