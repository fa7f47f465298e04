/** The one place where an outside request becomes an ingress: parsed once, canonical ever after. */
import {
  type Address,
  accountName,
  CELL_KEY_BYTES_MAX,
  type CommandName,
  formatAddress,
  type IngressOf,
  isTextWithin,
  KERNEL_COMMANDS,
  type KernelCommand,
  kernelCommand,
  type Principal,
  REQUEST_ID_MAX,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import { LINKS_FOLLOWED_MAX } from '../../../ports/content/bounds.js';
import type { LinkCheck } from '../../../ports/content/links.js';
import { requirePrincipal, requireWritable } from '../../../pure/arguments/arguments.js';
import { decode, encode } from '../../../pure/codec/index.js';
import { type App, cellAddress, reducerFor } from '../../../pure/define/index.js';
import { holderIn, isCellKey, REVIVE, VALUE_BYTES_MAX } from '../../../pure/engine/index.js';
import { fittedForm } from '../../../pure/schema/fitted-form.js';
import { check, compileSchema, type SchemaNode } from '../../../pure/schema/index.js';
import { readArgument } from './argument.js';

/** A request that passed every check that does not depend on state. */
interface Admitted {
  readonly to: Address;
  readonly name: string;
  readonly value: Value;
  readonly id: string;
  readonly principal: Principal;
}

/**
 * Checks and parses a request.
 *
 * @throws RepriseError `invalid_argument`, `unknown_reducer`, `unknown_event`, `invalid_value`, `event_invalid`,
 *   `bound_exceeded`, `blob_missing`, `blob_erased`
 */
export async function admitRequest(
  app: App,
  links: LinkCheck,
  request: {
    readonly to: Address;
    readonly name: string;
    readonly value: unknown;
    readonly id: string;
    readonly principal: Principal;
  },
): Promise<Admitted> {
  const to = checkAddress(app, request.to);
  requireAsking(request.id, request.principal);
  const value = parseEvent(app, to, request.name, request.value);
  await requireLinks(request.name, value, links);
  return { to, name: request.name, value, id: request.id, principal: holderIn(app, request.principal) };
}

/**
 * Checks and parses a session command.
 *
 * @throws RepriseError `invalid_argument`, `invalid_value`, `bound_exceeded`, `blob_missing`
 */
export async function admitCommand(
  app: App,
  links: LinkCheck,
  asked: { readonly name: CommandName; readonly value: unknown; readonly id: string; readonly principal: Principal },
): Promise<Pick<IngressOf<'command'>, 'command' | 'id' | 'principal'>> {
  const { id, principal, name } = asked;
  requireAsking(id, principal);
  requireCommand(name);
  const bytes = boundedBytes(name, asked.value, 'sys');
  commandShape ??= compileSchema(kernelCommand);
  const checked = check(commandShape, { name, value: decode(bytes) });
  if (!checked.ok) {
    throw new RepriseError('invalid_argument', `invalid ${name}`, {
      where: checked.path,
      expected: checked.expected,
      actual: checked.actual,
    });
  }
  await requireLinks(name, checked.value, links);
  return { command: checked.value as unknown as KernelCommand, id, principal: holderIn(app, principal) };
}

let commandShape: SchemaNode | undefined;

function requireCommand(name: unknown): void {
  if (typeof name === 'string' && Object.hasOwn(KERNEL_COMMANDS, name)) return;
  throw new RepriseError('invalid_argument', 'unknown command', {
    expected: Object.keys(KERNEL_COMMANDS).join(', '),
    actual: name,
  });
}

async function requireLinks(event: string, value: Value, links: LinkCheck): Promise<void> {
  const bad = await links.firstBad(value);
  if (bad === undefined) return;
  const where = bad.ref.toString();
  if (bad.why === 'blob_missing') {
    throw new RepriseError('blob_missing', `${event} links content that is not in this store`, {
      where,
      hint: 'Put the content first, then send the event that links it.',
    });
  }
  if (bad.why === 'blob_erased') {
    throw new RepriseError('blob_erased', `${event} links content that was erased`, {
      where,
      hint: 'Send the event without it, or put the content again, which makes it a new decision to keep it.',
    });
  }
  if (bad.why === 'too_many_links') {
    throw new RepriseError('bound_exceeded', `${event} links too much content for one request`, {
      where,
      expected: `at most ${LINKS_FOLLOWED_MAX} links, followed from value to value`,
      hint: 'Link a log or a list of lists instead of a long chain of values.',
    });
  }
  throw new RepriseError('invalid_value', `${event} links content as a value, but the content is not a value`, {
    where,
    hint: 'Store values with putValue; link other bytes by the ref that put returned.',
  });
}

/** Refuses an invalid account name. */
export function requireAccountName(name: unknown): void {
  if (typeof name === 'string' && accountName.safeParse(name).success) return;
  throw new RepriseError('invalid_argument', 'invalid account name', {
    expected: 'visible ASCII, up to 128 characters',
    actual: name,
  });
}

/** Refuses an id or a principal that the journal could not hold, or that is reserved for the kernel. */
export function requireAsking(id: unknown, principal: unknown): void {
  if (typeof id !== 'string' || id === '' || !isTextWithin(id, REQUEST_ID_MAX)) {
    throw new RepriseError('invalid_argument', 'invalid request id', {
      expected: 'text of 1 to 256 characters',
      actual: id,
    });
  }
  requirePrincipal(principal);
  requireWritable(id);
}

function checkAddress(app: App, to: Address): Address {
  if (!Array.isArray(to) || to.length !== 2 || typeof to[0] !== 'string' || typeof to[1] !== 'string') {
    throw new RepriseError('invalid_argument', 'invalid cell address', {
      expected: '[reducer, key]',
      actual: to,
    });
  }
  const [reducer, key] = to;
  if (reducerFor(app, reducer) === undefined) {
    throw new RepriseError('unknown_reducer', `the app has no reducer ${reducer}`, {
      expected: [...app.reducers.keys()].join(', '),
      hint: 'Register the reducer with defineApp, or fix the name.',
    });
  }
  if (!isCellKey(key)) {
    throw new RepriseError('invalid_argument', 'invalid cell key', {
      expected: `well-formed text of 1 to ${CELL_KEY_BYTES_MAX} bytes`,
      actual: key,
    });
  }
  return cellAddress(app, [reducer, key]);
}

function boundedBytes(name: string, given: unknown, where: string): Uint8Array {
  const bytes = readArgument(`the value of ${name}`, () => encode(given));
  if (bytes.length <= VALUE_BYTES_MAX) return bytes;
  throw new RepriseError('bound_exceeded', `the value of ${name} is too large`, {
    where,
    expected: `at most ${VALUE_BYTES_MAX} bytes`,
    actual: `${bytes.length} bytes`,
    hint: 'Put large content into the content store and send its ref.',
  });
}

/** What a revived cell is to take in the same frame is parsed as if it had been sent by itself. */
function parseRevival(app: App, to: Address, given: Value): Value {
  const { next } = Object(given) as { readonly next?: unknown };
  if (next === undefined) return {};
  const { name, value } = Object(next) as { readonly name?: unknown; readonly value?: unknown };
  if (typeof name === 'string' && name !== REVIVE) return { next: { name, value: parseEvent(app, to, name, value) } };
  throw new RepriseError('invalid_argument', 'a revived cell cannot take this', {
    where: formatAddress(to),
    expected: 'next: {name, value}, an event of the cell',
    actual: next,
  });
}

function parseEvent(app: App, to: Address, name: string, given: unknown): Value {
  const events = reducerFor(app, to[0])?.events;
  const event = events?.get(name);
  const isSendable = event !== undefined && !name.startsWith('sys/');
  const read = () => (isSendable ? fittedForm(event.node, given, VALUE_BYTES_MAX) : undefined);
  const fitted = readArgument(`the value of ${name}`, read);
  if (fitted !== undefined) return fitted.value;
  const bytes = boundedBytes(name, given, formatAddress(to));
  if (name === REVIVE) return parseRevival(app, to, decode(bytes));
  if (event === undefined) {
    throw new RepriseError('unknown_event', `${to[0]} takes no event ${name}`, {
      expected: [...(events?.keys() ?? [])].join(', '),
    });
  }
  if (!isSendable) {
    throw new RepriseError('invalid_argument', `only the kernel sends ${name}`, { where: formatAddress(to) });
  }
  const checked = check(event.node, decode(bytes));
  if (checked.ok) return checked.value;
  throw new RepriseError('event_invalid', `the value of ${name} does not fit its schema`, {
    where: checked.path,
    expected: checked.expected,
    actual: checked.actual,
  });
}
