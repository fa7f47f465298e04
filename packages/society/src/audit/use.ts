/** What agents and their sessions did, and what the gate refused them. */
import type { JournalRecord } from '@reprise/contracts';
import { entityOfCell } from './lineage.js';
import { type AuditCheck, type AuditRecord, fieldsIn } from './reading.js';
import type { AuditedUse } from './report.js';

interface Counts {
  readonly effects: Map<string, { allowed: number; ok: number }>;
  readonly tools: Map<string, number>;
  readonly denied: Map<string, { readonly what: string; readonly code: string; times: number }>;
}

const JUDGED: ReadonlySet<string> = new Set(['society.call@1', 'society.group_call@1']);

export class UseCheck implements AuditCheck {
  readonly #counts = new Map<string, Counts>();
  /** The effects that have not ended: whose each is, and its kind. */
  readonly #open = new Map<string, { readonly entity: string; readonly kind: string }>();

  take({ record }: AuditRecord): void {
    if (record.kind === 'effect') this.#effect(record);
    else if (record.kind === 'receipt') this.#ended(record.effect, record.receipt.status);
    else if (record.kind === 'settled') this.#ended(record.effect, record.status);
    else if (record.kind === 'denial') this.#denied(record);
  }

  useOf(entity: string): AuditedUse {
    const { effects, tools, denied } = this.#counts.get(entity) ?? newCounts();
    const byName = <T>(map: Map<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      effects: byName(effects).map(([kind, counts]) => ({ kind, ...counts })),
      tools: byName(tools).map(([tool, calls]) => ({ tool, calls })),
      denied: byName(denied).map(([, { what, code, times }]) => ({ what, code, times })),
    };
  }

  #effect({ effect, plan, name, params }: Extract<JournalRecord, { kind: 'effect' }>): void {
    const entity = entityOfCell(`${plan[0]}/${plan[1]}`);
    if (entity === undefined) return;
    this.#open.set(effect, { entity, kind: name });
    const { effects, tools } = this.#of(entity);
    const counts = effects.get(name) ?? { allowed: 0, ok: 0 };
    counts.allowed++;
    effects.set(name, counts);
    const { tool } = fieldsIn(params);
    if (JUDGED.has(name) && typeof tool === 'string') tools.set(tool, (tools.get(tool) ?? 0) + 1);
  }

  #ended(effect: string, status: string): void {
    const open = this.#open.get(effect);
    if (open === undefined) return;
    this.#open.delete(effect);
    const counts = this.#of(open.entity).effects.get(open.kind);
    if (status === 'ok' && counts !== undefined) counts.ok++;
  }

  #denied({ who, what, code }: Extract<JournalRecord, { kind: 'denial' }>): void {
    const entity = who.startsWith('cell:') ? entityOfCell(who.slice('cell:'.length)) : undefined;
    if (entity === undefined) return;
    const { denied } = this.#of(entity);
    const key = `${what} ${code}`;
    const row = denied.get(key) ?? { what, code, times: 0 };
    row.times++;
    denied.set(key, row);
  }

  #of(entity: string): Counts {
    const counts = this.#counts.get(entity) ?? newCounts();
    this.#counts.set(entity, counts);
    return counts;
  }
}

function newCounts(): Counts {
  return { effects: new Map(), tools: new Map(), denied: new Map() };
}
