/** What organizations state, as events beside those of sessions. */
import type { Cursor } from '@reprise/agent';
import type { Value } from '@reprise/contracts';
import type { WorldFrame } from '@reprise/kernel';
import type { Organizations, Organized } from '../world/organizations.js';

/** A fact of an organization. */
export interface OrganizationEvent {
  readonly type: 'organization.changed';
  /** What kind of organization it is: `tree`. */
  readonly organization: string;
  readonly name: string;
  /** The name of the fact: `tree/NodeChanged@1`. */
  readonly fact: string;
  readonly value: Value;
  readonly event_seq: Cursor;
  /** The time of its frame, in milliseconds. */
  readonly at: number;
}

/** Makes the events of a frame. @param only those of one organization; of all when absent */
export function organizationEvents(
  organizations: Organizations,
  only?: Organized,
): (frame: WorldFrame) => readonly OrganizationEvent[] {
  return ({ seq, at, records }) =>
    records.flatMap((record, i) => {
      if (record.kind !== 'fact' || record.from === null) return [];
      const [reducer, key] = record.from;
      const of = organizations.at([reducer, key]);
      if (of === undefined || (only !== undefined && !isSame(of, only))) return [];
      const { name: fact, value } = record;
      const about = { organization: of.kind.kind, name: of.name, fact, value };
      return [{ type: 'organization.changed', ...about, event_seq: `${seq}.${i}`, at }];
    });
}

/** Whether both are the same organization. */
export function isSame(one: Organized, other: Organized | undefined): boolean {
  return one.kind === other?.kind && one.name === other.name;
}
