/** Keys and proofs: where each key comes from, and whether each recorded verdict is the one that its signature gives. */

import { isRepriseError, type JournalRecord, type Receipt, type Value } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { verdictOn } from '../adapters/verify.js';
import { ENTITY, IDENTITY_BOUNDS, type IdentityProof, identityProof, keyMade, SWARM } from '../pure/contracts/index.js';
import { ChallengeBook } from './challenges.js';
import type { Lineage, MadeAgent } from './lineage.js';
import {
  type AuditCheck,
  type AuditRecord,
  cellName,
  eventTo,
  fieldsIn,
  type Problems,
  placeOf,
  pushTo,
} from './reading.js';
import type { AuditedKey, AuditedProof, AuditPlace, UnusedKey } from './report.js';

type Place = AuditPlace & { readonly i: number };

interface Made extends Place {
  readonly agent_id: string;
  readonly public_key: string;
  readonly key_ref: string;
  /** The cell that had it made. */
  readonly cell: string;
  /** Whether that cell was told, or had given up the plan that asked for it: then nobody is to be told. */
  heard: boolean;
}

/** A proof, until its signature is checked. */
interface Claim extends Place {
  readonly proof: IdentityProof;
  readonly agent: string;
  readonly cell: string;
  /** The world that it is for, as the verdict says where it may. */
  world: string;
  recorded: string | null;
  /** The frame of the verdict. */
  ended: AuditPlace | null;
  checked: string;
}

interface Open {
  readonly kind: (typeof KINDS)[number];
  readonly cell: string;
  readonly plan: string;
  readonly params: Readonly<Record<string, Value>>;
  readonly claim?: Claim;
}

const KINDS = ['identity.keygen@1', 'identity.nonce@1', 'identity.verify@1', 'identity.destroy@1'] as const;

/** Follows keys and proofs: each key has an owner, each proof one challenge. */
export class KeysCheck implements AuditCheck {
  readonly #open = new Map<string, Open>();
  readonly #made = new Map<string, Made>();
  readonly #destroyed = new Map<string, AuditPlace>();
  /** The plans that were given up while a key was being made for them: a disbanded swarm, an agent that has ended. */
  readonly #givenUp = new Set<string>();
  readonly #claims: Claim[] = [];
  readonly #challenges: ChallengeBook;
  /** The world, and those whose receipts a dry fork repeats. */
  #world = '';
  #origins: ReadonlySet<string> = new Set();

  constructor(
    private readonly lineage: Lineage,
    private readonly problems: Problems,
  ) {
    this.#challenges = new ChallengeBook(problems, IDENTITY_BOUNDS.nonce_ms);
  }

  get world(): string {
    return this.#world;
  }

  take(read: AuditRecord): void {
    const { record } = read;
    this.#challenges.take(read);
    if (record.kind === 'manifest') this.#world = record.world;
    else if (record.kind === 'fork') this.#forked(record, read);
    else if (record.kind === 'effect') this.#effect(record, read);
    else if (record.kind === 'receipt')
      this.#receipt(record.effect, record.receipt, record.recorded !== undefined, read);
    else if (record.kind === 'settled') this.#settled(record.effect, record.code ?? record.status, read);
    else if (record.kind === 'fault') this.#dropped(read);
    else if (record.kind === 'plan_ended' && record.status === 'cancelled') this.#cancelled(record.plan);
    this.#heard(record);
  }

  /** Checks all signatures, and whether each key belongs to an agent, and each agent to its key. */
  async end(content: ContentReader): Promise<void> {
    for (const claim of this.#claims) await this.#check(claim, content);
    for (const made of this.#made.values()) this.#requireTaken(made);
    for (const [id, agent] of this.lineage.begun) this.#requireProved(id, agent);
  }

  keyOf(id: string, agent: MadeAgent): AuditedKey {
    const { public_key, key_ref } = agent.record;
    const proved = this.#origin(id, agent);
    return { public_key, key_ref, proved, destroyed: this.#destroyed.get(key_ref ?? '') ?? null };
  }

  proofsOf(agent: string): readonly AuditedProof[] {
    return (this.#byAgent.get(agent) ?? []).map(({ seq, at, proof: { purpose, nonce }, recorded, checked }) => {
      return { seq, at, purpose, nonce, recorded, checked };
    });
  }

  unused(): readonly UnusedKey[] {
    return [...this.#made.values()]
      .filter(({ agent_id, heard }) => heard && !this.lineage.begun.has(agent_id))
      .map(({ agent_id, key_ref, ...place }) => {
        return { agent_id, key_ref, ...placeOf(place), destroyed: this.#destroyed.get(key_ref) ?? null };
      });
  }

  readonly #byAgent = new Map<string, Claim[]>();

  #forked({ world, origins, settled }: Extract<JournalRecord, { kind: 'fork' }>, read: AuditRecord): void {
    this.#origins = new Set([...origins, this.#world]);
    this.#world = world;
    for (const [effect, receipt] of settled) this.#receipt(effect, receipt, true, read);
  }

  #effect({ effect, name, plan, params }: Extract<JournalRecord, { kind: 'effect' }>, read: AuditRecord): void {
    const kind = KINDS.find((one) => one === name);
    if (kind === undefined) return;
    const open: Open = { kind, cell: cellName(plan), plan: planName(plan), params: fieldsIn(params) };
    const claim = kind === 'identity.verify@1' ? this.#claim(open, params, plan[2], read) : undefined;
    this.#open.set(effect, claim === undefined ? open : { ...open, claim });
  }

  /** A proof of an agent at its own entity, or of a key that it brings at its parent's: others count for nothing. */
  #claim({ cell }: Open, params: Value, plan: number, read: AuditRecord): Claim | undefined {
    const parsed = identityProof.safeParse(params);
    if (!parsed.success) return undefined;
    const { agent, purpose } = parsed.data;
    if (!cell.startsWith(`${ENTITY}/`) || (purpose !== 'register' && cell !== `${ENTITY}/${agent}`)) return undefined;
    const place = { ...placeOf(read), i: read.i };
    const open = { world: this.#world, recorded: null, ended: null, checked: 'open' };
    const claim: Claim = { ...place, proof: parsed.data, agent, cell, ...open };
    this.#claims.push(claim);
    pushTo(this.#byAgent, agent, claim);
    if (purpose !== 'register') this.#challenges.answered(parsed.data, `${cell}#${plan}`, place);
    return claim;
  }

  #receipt(effect: string, receipt: Receipt, isRecorded: boolean, read: AuditRecord): void {
    const open = this.#open.get(effect);
    if (open === undefined) return;
    this.#open.delete(effect);
    const isOk = receipt.status === 'ok';
    const payload = fieldsIn(receipt.payload);
    if (open.claim !== undefined) this.#judged(open.claim, receipt, isRecorded, read);
    else if (!isOk) return;
    else if (open.kind === 'identity.keygen@1') this.#keyMade(open, receipt.payload ?? null, read);
    else if (open.kind === 'identity.nonce@1')
      this.#challenges.drawn(open.cell, open.params, String(payload.nonce), read);
    else if (open.kind === 'identity.destroy@1' && payload.destroyed === true)
      this.#destroyed.set(String(open.params.key_ref), placeOf(read));
  }

  #settled(effect: string, code: string, read: AuditRecord): void {
    const claim = this.#open.get(effect)?.claim;
    this.#open.delete(effect);
    if (claim !== undefined) Object.assign(claim, { recorded: code, ended: placeOf(read) });
  }

  /** A receipt that a dry fork repeats speaks of the world in which it was given. */
  #judged(claim: Claim, receipt: Receipt, isRecorded: boolean, read: AuditRecord): void {
    const { verified, refused, world } = fieldsIn(receipt.payload);
    const outcome = verified === true ? 'verified' : String(refused);
    claim.recorded = receipt.status === 'ok' ? outcome : (receipt.code ?? receipt.status);
    claim.ended = placeOf(read);
    if (isRecorded && typeof world === 'string' && this.#origins.has(world)) claim.world = world;
    if (receipt.status !== 'ok' || world === claim.world) return;
    this.problems.add('verdict_forged', claim.agent, read, { expected: { world: claim.world }, actual: { world } });
  }

  #keyMade({ cell, plan }: Open, payload: Value, read: AuditRecord): void {
    const parsed = keyMade.safeParse(payload);
    if (!parsed.success) return;
    const { agent_id, public_key, key_ref } = parsed.data;
    const heard = this.#givenUp.has(plan);
    this.#made.set(agent_id, { ...placeOf(read), i: read.i, agent_id, public_key, key_ref, cell, heard });
  }

  /** The entity or the swarm that asked for a key hears of it from its plan. */
  #heard(record: JournalRecord): void {
    const event = eventTo(ENTITY, record) ?? eventTo(SWARM, record);
    if (event?.name !== 'society/Keyed@1' || event.from === null || record.kind !== 'event') return;
    const made = this.#madeIn(event.value);
    if (made !== undefined && made.cell === cellName(record.to) && made.cell === cellName(event.from))
      made.heard = true;
  }

  #madeIn(keyed: Value): Made | undefined {
    return this.#made.get(String(fieldsIn(fieldsIn(keyed).value).agent_id));
  }

  /** Only an entity or a swarm asks for keys of agents, and may give that up. */
  #cancelled(plan: readonly [string, string, number]): void {
    if (plan[0] === ENTITY || plan[0] === SWARM) this.#givenUp.add(planName(plan));
  }

  /** A delivery that was dropped told nobody. */
  #dropped({ record, all }: AuditRecord): void {
    const cause = 'c' in record ? all[record.c] : undefined;
    if (cause?.kind !== 'event' || cause.event.name !== 'society/Keyed@1') return;
    const made = this.#madeIn(cause.event.value);
    if (made !== undefined) made.heard = false;
  }

  async #check(claim: Claim, content: ContentReader): Promise<void> {
    const { world, recorded, agent } = claim;
    const refused = await signatureOf(claim.proof, world, content);
    claim.checked = refused ?? 'verified';
    const isVerdict = recorded === 'verified' || REFUSALS.has(recorded ?? '');
    if (!isVerdict || recorded === claim.checked) return;
    if (recorded === 'content_gone' || refused === 'content_gone') return; // a text is gone for one of the two: nothing to compare
    this.problems.add('verdict_forged', agent, claim, { expected: claim.checked, actual: recorded });
  }

  #requireTaken({ agent_id, key_ref, heard, ...place }: Made): void {
    if (heard || this.lineage.has(agent_id) || this.#destroyed.has(key_ref)) return;
    this.problems.add('key_without_agent', agent_id, place, { expected: 'society/Make@1', actual: key_ref });
  }

  #requireProved(id: string, agent: MadeAgent): void {
    if (this.#origin(id, agent) !== null) return;
    const expected = agent.record.key_ref === null ? 'identity.verify@1' : 'identity.keygen@1';
    this.problems.add('key_not_proved', id, agent.made, { expected, actual: null });
  }

  /** Where a key comes from: its maker had it made, or the agent signed the id of its parent. */
  #origin(id: string, { record, maker }: MadeAgent): AuditPlace | null {
    const { public_key, key_ref, parent_entity_id } = record;
    if (key_ref !== null) {
      const made = this.#made.get(id);
      const isIts = made?.public_key === public_key && made.key_ref === key_ref && made.cell === maker;
      return isIts ? placeOf(made) : null;
    }
    const claim = this.#byAgent.get(id)?.find(({ proof: own, cell, checked, recorded }) => {
      const isOfKey = own.purpose === 'register' && own.public_key === public_key && own.nonce === parent_entity_id;
      return isOfKey && cell === maker && checked === 'verified' && recorded === 'verified';
    });
    return claim?.ended ?? null;
  }
}

function planName(plan: readonly [string, string, number]): string {
  return `${cellName(plan)}#${plan[2]}`;
}

const REFUSALS: ReadonlySet<string> = new Set(['key_weak', 'key_of_another', 'signature_invalid', 'content_gone']);

/** What a signature says; `content_gone` also where the store has lost a text. */
async function signatureOf(of: IdentityProof, world: string, content: ContentReader): Promise<string | null> {
  try {
    return (await verdictOn(of, world, content)).refused;
  } catch (error) {
    if (isRepriseError(error, 'blob_missing')) return 'content_gone';
    throw error;
  }
}
