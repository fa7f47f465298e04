/** What a holder may do at a frame, and what gave and narrowed it. */

import {
  type Capability,
  type JournalRecord,
  type KernelCommand,
  type Principal,
  parseAddress,
  RepriseError,
} from '@reprise/contracts';
import { type App, type ReadonlyStore, type WorldAt, worldAt } from '@reprise/kernel';
import { REDUCERS } from '../names/reducers.js';
import { frameOf } from '../page/frames.js';
import { AT_OPTIONS, requireGivenApps, requireQuestion } from '../page/require.js';
import { skimFrames, textsIn } from '../skim/index.js';
import type { RightsLink, RightsReport } from './report.js';

/** The frame after which rights are read. */
export interface RightsAtOptions {
  /** The frame after which they are read; the newest one when absent. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads the rights of a holder after a frame: what it may do over its whole chain, and for each holder of the chain what was
 * set for it, by whom and in which frame. The journal is read up to the frame for that, and its end is replayed.
 *
 * @param holder `operator`, `human:ann`, `cell:namespace/Reducer@1/key`
 * @throws RepriseError `invalid_argument` for a holder that is not one, a cell that is not there, or when there is no such frame; the errors of `worldAt`
 */
export async function rightsAt(
  store: ReadonlyStore,
  apps: { readonly app: App; readonly legacy?: readonly App[] },
  holder: Principal,
  options: RightsAtOptions = {},
): Promise<RightsReport> {
  requireQuestion('rightsAt', store, options, AT_OPTIONS);
  requireGivenApps('rightsAt', apps);
  const { app, legacy = [] } = apps;
  const { at, signal } = options;
  const frame = await frameOf(store, at);
  const then = await worldAt(store, app, frame, { legacy });
  const { effective, chain } = await then.rights(holder);
  if (chain.every(({ declared }) => declared === undefined)) await requireHolder(holder, then);
  const settings = await settingsOf(store, frame, new Set(chain.map((one) => one.holder)), signal);
  const links: RightsLink[] = [];
  for (const { holder: one, declared } of chain) {
    if (declared === undefined) continue;
    const { exercise, grant, account, holds = [], approved } = declared;
    links.push({
      ...{ holder: one, exercise: ownCopy(exercise), grant: ownCopy(grant), account },
      name: await nameOf(one, (address) => then.state(address)),
      holds: holds.map(([granter, hold]) => ({ granter, hold: copyOf(hold) })),
      approved: approved.map(([kind, until]) => [kind, until]),
      since: settings.get(one) ?? null,
    });
  }
  return {
    ...{ frame, holder, chain: links, broken: effective === undefined },
    exercise: ownCopy(effective?.exercise ?? null),
    grant: ownCopy(effective?.grant ?? null),
    account: effective?.account ?? null,
  };
}

/** Refuses a cell that is not there: nothing was set for it, which would read as "may do everything". */
async function requireHolder(holder: Principal, then: WorldAt): Promise<void> {
  if (!holder.startsWith(CELL) || (await then.state(parseAddress(holder.slice(CELL.length)))) !== undefined) return;
  throw new RepriseError('invalid_argument', 'there is no such cell at this frame', {
    where: 'holder',
    expected: 'operator, human:<id>, or cell: with the address of a cell',
    actual: holder,
  });
}

/** A capability as a report holds it: its lists belong to the report. */
function copyOf({ may, ...rest }: Capability) {
  return { ...rest, may: Object.fromEntries(Object.entries(may).map(([name, patterns]) => [name, [...patterns]])) };
}

function ownCopy(capability: Capability | null) {
  return capability === null ? null : copyOf(capability);
}

const CELL = 'cell:';
const SET_RIGHTS = 'sys/SetRights@1';

type Setting = NonNullable<RightsLink['since']>;

/** The last change of the rights of some holders. */
async function settingsOf(
  store: ReadonlyStore,
  last: number,
  holders: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Setting>> {
  const found = new Map<string, Setting>();
  await skimFrames(store, { from: 0, to: last, holding: textsIn([SET_RIGHTS]), signal }, (frame, at, all) => {
    for (const [i, record] of all.entries()) {
      const set = settingIn(record, all[i + 1]);
      if (set !== undefined && holders.has(set.holder)) found.set(set.holder, { frame, at, by: set.by });
    }
  });
  return found;
}

/** The change of rights that a record makes. @param next the record behind it, which says whether a command of a cell was denied */
function settingIn(
  record: JournalRecord,
  next: JournalRecord | undefined,
): { readonly holder: string; readonly by: string } | undefined {
  if (record.kind === 'command') return setBy(record.command, record.principal);
  if (record.kind !== 'cell_command' || next?.kind === 'denial') return undefined;
  return setBy(record.command, `cell:${record.from[0]}/${record.from[1]}`);
}

function setBy({ name, value }: KernelCommand, by: string) {
  return name === SET_RIGHTS ? { holder: value.holder, by } : undefined;
}

/** The display name of an agent or a person of a society; null for every other holder. */
async function nameOf(
  holder: string,
  state: (address: ReturnType<typeof parseAddress>) => Promise<unknown>,
): Promise<string | null> {
  if (!holder.startsWith(`cell:${REDUCERS.entity}/`)) return null;
  const entity = (await state(parseAddress(holder.slice('cell:'.length)))) as
    | { readonly display_name?: unknown }
    | undefined;
  return typeof entity?.display_name === 'string' ? entity.display_name : null;
}
