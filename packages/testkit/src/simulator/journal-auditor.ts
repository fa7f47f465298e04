/**
 * Reads a journal frame by frame, at the moment in which each becomes durable, and checks the promises of every
 * journal, whatever its app. It shares no code with the kernel that wrote the journal.
 *
 * Invariants
 * J1  Frames are numbered without gaps, and their time never goes back.
 * J2  A request of a principal under one id is journaled once.
 * J3  An effect is emitted once, by a plan that has not ended; it starts only while it is open, attempt after attempt, a
 *     second time only when its guarantee permits it; it is settled exactly once.
 * J4  A late answer is recorded as late, and leads to nothing else.
 * J5  A plan begins once and ends once.
 * J6  An input is quarantined only after the deaths of two owners: a process that closed the world, or lost it to another, did not die.
 */
import type { JournalRecord, PlanAddress } from '@reprise/contracts';

type Of<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>;

/** The records of an effect. */
interface AuditedEffect {
  readonly name: string;
  readonly guarantee: Of<'effect'>['guarantee'];
  readonly plan: string;
  attempts: number;
  /** Its status; undefined while it is open. */
  settled?: string;
}

/** Checks the promises of every journal. */
export class JournalAuditor {
  /** Every effect that was ever emitted, by its id. */
  readonly effects = new Map<string, AuditedEffect>();
  /** Plans that began, and how they ended; undefined while they run. */
  readonly plans = new Map<string, string | undefined>();
  /** The frames of requests and commands, by principal and id. */
  readonly #asked = new Map<string, number>();
  #seq = -1;
  #at = 0;
  #deaths = 0;

  /** The number of the last frame; −1 before the first. */
  get seq(): number {
    return this.#seq;
  }

  /** The effects that are open. */
  get open(): readonly string[] {
    return [...this.effects].filter(([, { settled }]) => settled === undefined).map(([id]) => id);
  }

  /** The frame of a request; undefined when the journal does not have it. */
  frameOf(principal: string, id: string): number | undefined {
    return this.#asked.get(`${principal} ${id}`);
  }

  /** The owner of the world has died, or the process that was opening it as the last one. */
  processDied(): void {
    this.#deaths++;
  }

  /** Checks the next frame. @throws Error when the frame breaks a promise */
  read(frame: readonly JournalRecord[]): void {
    const [ingress, ...rest] = frame;
    if (ingress === undefined || !('seq' in ingress)) throw new Error('a frame without ingress');
    must(ingress.seq === this.#seq + 1, `frame ${ingress.seq} comes after frame ${this.#seq}`); // J1
    must(ingress.at >= this.#at, `frame ${ingress.seq} is older than the one before`);
    [this.#seq, this.#at] = [ingress.seq, ingress.kind === 'clock' ? ingress.wall : ingress.at];
    if ('quarantined' in ingress)
      must(this.#deaths >= 2, `frame ${ingress.seq} is quarantined after ${this.#deaths} deaths`); // J6
    this.#ingress(ingress, rest);
    for (const record of rest) this.#derived(record);
  }

  #ingress(ingress: JournalRecord, rest: readonly JournalRecord[]): void {
    if (ingress.kind === 'request' || ingress.kind === 'command') this.#ask(ingress);
    if (ingress.kind === 'attempt' && !endedIn(rest, ingress.effect)) this.#start(ingress);
    if (ingress.kind === 'receipt') this.#receipt(ingress, rest);
    if (ingress.kind === 'manifest')
      for (const plan of ingress.cancels ?? []) this.plans.set(nameOf(plan), 'cancelled');
  }

  // J2
  #ask({ principal, id, seq }: Of<'request'> | Of<'command'>): void {
    const key = `${principal} ${id}`;
    const before = this.#asked.get(key);
    must(before === undefined, `${key} is journaled in frame ${before} and again in frame ${seq}`);
    this.#asked.set(key, seq);
  }

  #derived(record: JournalRecord): void {
    switch (record.kind) {
      case 'intent':
        must(!this.plans.has(nameOf(record.plan)), `plan ${nameOf(record.plan)} begins twice`); // J5
        this.plans.set(nameOf(record.plan), undefined);
        return;
      case 'plan_ended':
        this.#endPlan(record);
        return;
      case 'effect':
        return this.#emit(record);
      case 'attempt':
        return this.#start(record);
      case 'settled':
        // An effect that the gate refused at once was never emitted.
        if (this.effects.has(record.effect)) this.#settle(record.effect, record.status);
        return;
      default:
    }
  }

  /** J5. A plan that continues as itself ends, and begins under another ordinal. */
  #endPlan({ plan, status }: Of<'plan_ended'>): void {
    const name = nameOf(plan);
    must(this.plans.get(name) === undefined, `plan ${name} ends twice`);
    this.plans.set(name, status);
  }

  // J3
  #emit({ effect, name, guarantee, plan }: Of<'effect'>): void {
    must(!this.effects.has(effect), `${effect} is emitted twice`);
    must(this.plans.get(nameOf(plan)) === undefined, `${effect} is emitted by plan ${nameOf(plan)}, which has ended`);
    this.effects.set(effect, { name, guarantee, plan: nameOf(plan), attempts: 0 });
  }

  #start({ effect: id, attempt }: { readonly effect: string; readonly attempt: number }): void {
    const effect = this.#effect(id);
    must(effect.settled === undefined, `${id} starts and is settled`);
    must(attempt === effect.attempts + 1, `${id} starts attempt ${attempt} after attempt ${effect.attempts}`);
    must(attempt === 1 || effect.guarantee !== 'at_most_once', `${id} may happen once and starts again`);
    effect.attempts = attempt;
  }

  #receipt({ effect: id, attempt, receipt }: Of<'receipt'>, rest: readonly JournalRecord[]): void {
    const effect = this.#effect(id);
    must(attempt === effect.attempts, `${id} gets a receipt for attempt ${attempt}, and made ${effect.attempts}`);
    if (effect.settled === undefined) return this.#settle(id, receipt.status);
    // The ingress itself only records the late answer; what its cell does with the notice is its own affair.
    const moved = rest.find((record) => 'c' in record && record.c === 0 && record.kind !== 'late');
    must(moved === undefined, `the late answer of ${id} made a record of kind ${moved?.kind}`); // J4
    must(
      rest.some((record) => record.kind === 'late' && record.effect === id),
      `the late answer of ${id} is not recorded`,
    );
  }

  #settle(id: string, status: string): void {
    const effect = this.#effect(id);
    must(effect.settled === undefined, `${id} is settled as ${effect.settled} and again as ${status}`);
    effect.settled = status;
  }

  #effect(id: string): AuditedEffect {
    const effect = this.effects.get(id);
    if (effect === undefined) throw new Error(`${id} was never emitted`);
    return effect;
  }
}

/** The gate may end an effect instead of arming it. */
function endedIn(rest: readonly JournalRecord[], effect: string): boolean {
  return rest.some((record) => record.kind === 'settled' && record.effect === effect);
}

function nameOf(plan: PlanAddress): string {
  return plan.join('/');
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}
