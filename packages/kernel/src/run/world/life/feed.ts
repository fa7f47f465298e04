/** Repeats the original's requests after the cut to a fork. */
import {
  type Address,
  type CommandName,
  type ErrorCode,
  type IngressOf,
  type IngressRecord,
  isRepriseError,
  type Principal,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import type { ContentStore } from '../../../ports/content/port.js';
import { readInputs } from '../../../ports/journal/frame.js';
import { ContentCopy, type ForkSource } from '../../../replay/fork/index.js';
import type { World } from '../world.js';
import { isLost } from '../write/write-failures.js';

/** Options of feeding: which requests are repeated. */
export interface FeedOptions {
  /** The first frame of the original to read; the one after the cut when absent. */
  readonly from?: number;
  /** The last frame to read; the newest when absent. */
  readonly to?: number;
  /** Only requests to these cells. */
  readonly cells?: readonly Address[];
  /** Whether rights and accounts are set again as well. Decisions, answers and settlements are in the receipts. */
  readonly commands?: boolean;
}

/** How many requests the fork accepted, and which it refused. */
export interface FeedReport {
  /** Requests that the fork accepted, repetitions included. */
  readonly sent: number;
  /** Requests that it refused, by the frame of the original. */
  readonly refused: readonly { readonly seq: number; readonly id: string; readonly code: ErrorCode }[];
}

interface Fed {
  readonly world: World;
  readonly content: ContentStore;
  /** Gives only receipts before this frame of the original. */
  answerUntil(seq: number): void;
}

type Asked = IngressOf<'request' | 'command'>;

const SETTING: readonly CommandName[] = ['sys/SetRights@1', 'sys/SetAccount@1'];

export async function feedFork(fed: Fed, source: ForkSource, options: FeedOptions): Promise<FeedReport> {
  const cut = await requireOrigin(fed.world, source);
  const copy = new ContentCopy(source.content, fed.content);
  const refused: FeedReport['refused'][number][] = [];
  let sent = 0;
  try {
    for await (const { seq, bytes } of source.journal.read(Math.max(options.from ?? 0, cut + 1), options.to)) {
      const { ingress } = readInputs(bytes, seq);
      if (!isFed(ingress, options)) continue;
      fed.answerUntil(seq);
      await fed.world.pump();
      await copy.linked(ingress as unknown as Value, `frame ${seq}`);
      const code = await refusalOf(send(fed.world, ingress));
      if (code === undefined) sent++;
      else refused.push({ seq, id: ingress.id, code });
    }
  } finally {
    fed.answerUntil(Number.POSITIVE_INFINITY);
  }
  await fed.world.pump();
  return { sent, refused };
}

/** @returns the last frame that the fork shares with the original */
async function requireOrigin({ forked }: World, { journal }: ForkSource): Promise<number> {
  if (forked === undefined) throw new RepriseError('invalid_argument', 'this world is not a fork');
  for await (const { head } of journal.read(forked.seq, forked.seq)) if (head === forked.head) return forked.seq;
  throw new RepriseError('invalid_argument', 'the source is not the original of this fork', {
    expected: `frame ${forked.seq} with the head ${forked.head}`,
  });
}

function isFed(ingress: IngressRecord, { cells, commands = false }: FeedOptions): ingress is Asked {
  if (ingress.kind === 'command') return commands && SETTING.includes(ingress.command.name);
  if (ingress.kind !== 'request') return false;
  const [reducer, key] = ingress.to;
  return cells === undefined || cells.some((cell) => cell[0] === reducer && cell[1] === key);
}

function send(world: World, ingress: Asked): Promise<unknown> {
  const options = { id: ingress.id, as: ingress.principal as Principal };
  if (ingress.kind === 'request') return world.request(ingress.to, ingress.event, options);
  return world.command(ingress.command.name, ingress.command.value, options);
}

/** A refusal is reported; an error that stops the fork is thrown. */
async function refusalOf(sending: Promise<unknown>): Promise<ErrorCode | undefined> {
  try {
    await sending;
    return undefined;
  } catch (error) {
    if (!isRepriseError(error) || isLost(error) || FATAL.includes(error.code)) throw error;
    return error.code;
  }
}

const FATAL: readonly ErrorCode[] = ['commit_failed', 'store_failed', 'store_full', 'world_closed'];
