/** Challenges: each is drawn for one agent and purpose, and answered once within its time (SOC-9). */
import type { Value } from '@reprise/contracts';
import type { IdentityProof } from '../pure/contracts/index.js';
import { type AuditRecord, cellName, type Problems } from './reading.js';
import type { AuditPlace } from './report.js';

interface Drawn {
  readonly agent: string;
  readonly purpose: string;
  readonly at: number;
  isAnswered: boolean;
}

const PLANS: ReadonlySet<string> = new Set(['society/prove_plan@1', 'society/return_plan@1']);

export class ChallengeBook {
  readonly #drawn = new Map<string, Drawn>();
  /** When the entity took each proof: its effect may stand in a later frame. */
  readonly #taken = new Map<string, number>();

  constructor(
    private readonly problems: Problems,
    private readonly msMax: number,
  ) {}

  take({ record, at }: AuditRecord): void {
    if (record.kind === 'intent' && PLANS.has(record.name))
      this.#taken.set(`${cellName(record.plan)}#${record.plan[2]}`, at);
  }

  /** A challenge was drawn: it may be answered once, within a minute. */
  drawn(cell: string, { agent, purpose }: Readonly<Record<string, Value>>, nonce: string, { at }: AuditPlace): void {
    const isOwn = cell.endsWith(`/${agent}`);
    if (isOwn) this.#drawn.set(nonce, { agent: String(agent), purpose: String(purpose), at, isAnswered: false });
  }

  /** A proof answers a challenge. @param plan the plan that has it checked */
  answered({ agent, purpose, nonce }: IdentityProof, plan: string, place: AuditPlace & { readonly i: number }): void {
    const at = this.#taken.get(plan) ?? place.at;
    this.#taken.delete(plan);
    const drawn = this.#drawn.get(nonce);
    if (drawn === undefined || drawn.agent !== agent || drawn.purpose !== purpose) {
      this.problems.add('challenge_unknown', agent, place, { expected: { agent, purpose }, actual: drawn ?? null });
      return;
    }
    if (drawn.isAnswered) this.problems.add('challenge_reused', agent, place, { expected: 1, actual: nonce });
    if (at - drawn.at >= this.msMax)
      this.problems.add('challenge_late', agent, place, { expected: { ms_below: this.msMax }, actual: at - drawn.at });
    drawn.isAnswered = true;
  }
}
