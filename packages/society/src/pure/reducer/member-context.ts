/** The tables of an entity as a member of groups. */
import type { ReducerContext, Table } from '@reprise/kernel/define';
import type { AgentStatus, GroupTerms, Subscription } from '../contracts/index.js';
import type { CopyRow, MemberCounts, NoticeRow, TrustRow } from '../contracts/member.js';

interface Tables {
  readonly inbox: Table<NoticeRow>;
  readonly counts: Table<MemberCounts>;
  readonly subscriptions: Table<Subscription>;
  readonly trust: Table<TrustRow>;
  readonly terms: Table<GroupTerms>;
  readonly boards: Table<number>;
  readonly heard: Table<number>;
  readonly copies: Table<CopyRow>;
  readonly stores: Table<null>;
  readonly unsaid: Table<{ readonly old: AgentStatus; readonly now: AgentStatus }>;
}

/** A table of the entity as a member. */
export function memberTable<K extends keyof Tables>(ctx: ReducerContext, name: K): Tables[K] {
  return ctx.table(name) as unknown as Tables[K];
}

const NONE: MemberCounts = { next: 1, dropped: 0, write: 1 };

/** The numbers of the inbox and of writes. */
export function countsOf(ctx: ReducerContext): MemberCounts {
  return memberTable(ctx, 'counts').get(COUNTS) ?? NONE;
}

/** Changes the numbers of the inbox and of writes. */
export function setCounts(change: Partial<MemberCounts>, ctx: ReducerContext): void {
  memberTable(ctx, 'counts').set(COUNTS, { ...countsOf(ctx), ...change });
}

const COUNTS = 'counts';

/** The key of a number in a table, so that entries stand in the order of their numbers. */
export function numberKey(n: number): string {
  return String(n).padStart(12, '0');
}
