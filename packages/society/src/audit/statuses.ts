/** The statuses of agents, and what they did after their end (SOC-35, SOC-37). */

import type { Value } from '@reprise/contracts';
import { isLegal } from '../pure/contracts/cell/names.js';
import { type AgentStatus, ENTITY, entityCoreFacts } from '../pure/contracts/index.js';
import { entityOfCell } from './lineage.js';
import {
  type AuditCheck,
  type AuditRecord,
  causeOf,
  cellName,
  eventTo,
  factOf,
  type Problems,
  placeOf,
} from './reading.js';
import type { AuditedStatus } from './report.js';

const CHANGED = entityCoreFacts['society/StatusChanged@1'];

export class StatusCheck implements AuditCheck {
  readonly #changes = new Map<string, AuditedStatus[]>();

  constructor(private readonly problems: Problems) {}

  take(read: AuditRecord): void {
    const { record } = read;
    const fact = factOf(ENTITY, record);
    if (fact?.name === 'society/StatusChanged@1') this.#changed(fact.key, fact.value, read);
    const actor = record.kind === 'effect' ? entityOfCell(cellName(record.plan)) : undefined;
    if (record.kind === 'effect' && actor !== undefined) this.#acted(actor, record.name, read);
  }

  changesOf(agent: string): readonly AuditedStatus[] {
    return this.#changes.get(agent) ?? [];
  }

  statusOf(agent: string): AgentStatus {
    return this.#changes.get(agent)?.at(-1)?.new ?? 'registered';
  }

  #changed(agent: string, value: Value, read: AuditRecord): void {
    const changes = this.#changes.get(agent) ?? [];
    const parsed = CHANGED.safeParse(value);
    if (!parsed.success) {
      this.problems.add('status_broken', agent, read, { expected: 'a change of status', actual: value });
      return;
    }
    const { old, new: next, reason, epoch, by: actor = null } = parsed.data;
    const expected = { old: this.statusOf(agent), epoch: changes.length + 1 };
    if (old !== expected.old || epoch !== expected.epoch || !isLegal(old, next))
      this.problems.add('status_broken', agent, read, { expected, actual: { old, new: next, epoch } });
    changes.push({ ...placeOf(read), old, new: next, reason, by: askedBy(read), actor });
    this.#changes.set(agent, changes);
  }

  #acted(agent: string, kind: string, read: AuditRecord): void {
    const status = this.statusOf(agent);
    if (status !== 'deactivated' && status !== 'removed') return;
    this.problems.add('acted_after_end', agent, read, { expected: 'a denial', actual: { status, effect: kind } });
  }
}

/** The entity above that has an agent change its status. */
function askedBy(read: AuditRecord): string | null {
  const cause = causeOf(read);
  const event = cause === undefined ? undefined : eventTo(ENTITY, cause);
  const by = event?.name === 'society/Ask@1' ? event.from?.[1] : undefined;
  const found = event?.name === 'society/ParentStatus@1' ? event.value.by : by;
  return typeof found === 'string' ? found : null;
}
