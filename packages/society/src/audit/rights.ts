/** The rights of agents: each change, each refusal, and whether one ever exceeded what the maker may hand on (CAP-2). */

import {
  type Capability,
  type CommandValue,
  type InheritedRights,
  type JournalRecord,
  present,
} from '@reprise/contracts';
import {
  canonical,
  EVERYTHING,
  effectiveExercise,
  effectiveGrant,
  firstExcess,
  type HeldRights,
  join,
  leq,
  meet,
} from '@reprise/kernel/authority';
import type { CompiledRights } from '../pure/compile/index.js';
import { ENTITY, formatHolder } from '../pure/contracts/index.js';
import { keyIn, type Lineage } from './lineage.js';
import { type AuditCheck, type AuditRecord, cellName, factOf, type Problems, placeOf, pushTo } from './reading.js';
import type { AuditedRefusal, AuditedRights } from './report.js';

/** Both sides as they were set; null for a side that is not narrowed. */
interface Sides {
  readonly exercise: Capability | null;
  readonly grant: Capability | null;
}

type Change = CommandValue<'sys/SetRights@1'>;

interface Judged extends Pick<Change, 'holder'> {
  readonly before: Sides | undefined;
  readonly after: Sides;
  readonly by: string;
}

const OPEN: Sides = { exercise: null, grant: null };
const CELL = 'cell:';

export class RightsCheck implements AuditCheck {
  readonly #sides = new Map<string, Sides>();
  readonly #holds = new Map<string, ReadonlyMap<string, Capability>>();
  readonly #changes = new Map<string, AuditedRights[]>();
  readonly #refusals = new Map<string, AuditedRefusal[]>();
  #root: Capability = EVERYTHING;

  constructor(
    private readonly lineage: Lineage,
    private readonly problems: Problems,
  ) {}

  take(read: AuditRecord): void {
    const { record } = read;
    if (record.kind === 'fork') this.#forked(record, read);
    const isCommand = record.kind === 'cell_command' || record.kind === 'command';
    if (isCommand && record.command.name === 'sys/SetRights@1') {
      const by = record.kind === 'command' ? record.principal : `${CELL}${cellName(record.from)}`;
      this.#asked(record.command.value as Change, by, read);
    }
    const fact = factOf(ENTITY, record);
    if (fact?.name === 'society/Registered@1' && fact.value.kind !== 'person') this.#begun(fact.key, read);
  }

  changesOf(agent: string): readonly AuditedRights[] {
    return this.#changes.get(formatHolder(agent)) ?? [];
  }

  refusalsOf(agent: string): readonly AuditedRefusal[] {
    return this.#refusals.get(formatHolder(agent)) ?? [];
  }

  /** What an agent may do at the end, over the whole chain above it. */
  effective(agent: string): Capability {
    return effectiveExercise(this.#chain(formatHolder(agent)), this.#root);
  }

  #asked(change: Change, by: string, read: AuditRecord): void {
    const { holder } = change;
    const denial = read.all[read.i + 1]; // the record behind a refused command is its denial
    if (denial?.kind === 'denial' && denial.c === read.i && denial.what === 'sys/SetRights@1') {
      pushTo(this.#refusals, holder, { ...placeOf(read), by, code: denial.code });
      return;
    }
    if (change.hold !== undefined) return this.#held(holder, change.granter ?? by, change.hold);
    const known = this.#sides.get(holder);
    const before = known ?? OPEN;
    const set = change.excess === undefined ? change : this.#cut(change, before, by);
    const after = {
      exercise: set.exercise === undefined ? before.exercise : fitted(set.exercise),
      grant: set.grant === undefined ? before.grant : fitted(set.grant),
    };
    this.#judge({ holder, before: known, after, by }, read);
    this.#stand(holder, after, by, read);
  }

  /** GATE-37: what a change sets whose excess is cut off. */
  #cut({ holder, exercise, grant }: Change, before: Sides, by: string): Partial<Sides> {
    const stood = bothSides(before);
    const hands = by === holder ? undefined : effectiveGrant(this.#chain(by), this.#root);
    const within = (asked: Capability | null | undefined, was: Capability) =>
      asked == null ? asked : meet(asked, hands === undefined ? was : join(was, hands));
    return present({ exercise: within(exercise, stood.exercise), grant: within(grant, stood.grant) });
  }

  /** A hold only narrows, and the kernel lets nobody below its granter lift it. */
  #held(holder: string, granter: string, hold: Capability | null): void {
    const holds = new Map(this.#holds.get(holder));
    if (hold === null) holds.delete(granter);
    else holds.set(granter, canonical(hold));
    this.#holds.set(holder, holds);
  }

  #stand(holder: string, sides: Sides, by: string, read: AuditRecord): void {
    this.#sides.set(holder, sides);
    if (agentIn(holder) !== undefined) pushTo(this.#changes, holder, { ...placeOf(read), by, ...sides });
  }

  /** An entity narrows itself, and one above it narrows as well; what widens stays within what the maker may hand on. */
  #judge({ holder, before, after, by }: Judged, read: AuditRecord): void {
    const agent = agentIn(holder);
    const maker = agent === undefined ? undefined : this.lineage.makerOf(holder.slice(CELL.length));
    if (agent === undefined || maker === undefined || maker === null) return;
    const [was, is] = [before && bothSides(before), bothSides(after)];
    const limit = by === holder ? undefined : effectiveGrant(this.#chain(`${CELL}${maker}`), this.#root);
    for (const side of ['exercise', 'grant'] as const) {
      if (after[side] === null || (was !== undefined && leq(is[side], was[side]))) continue; // the chain above bounds a side that is not narrowed
      const excess = firstExcess(is[side], limit ?? was?.[side] ?? EVERYTHING);
      if (excess === undefined) continue;
      const { where, expected, actual } = excess;
      this.problems.add('rights_above_maker', agent, read, {
        expected: { side, where, at_most: expected },
        actual: { by, is: actual },
      });
    }
  }

  // SOC-7
  #begun(agent: string, read: AuditRecord): void {
    if (this.#sides.has(formatHolder(agent))) return;
    this.problems.add('began_without_rights', agent, read, { expected: 'sys/SetRights@1', actual: null });
  }

  /** A live fork restores no right: what its original took back since the cut is taken back in it. */
  #forked({ rights, root }: Extract<JournalRecord, { kind: 'fork' }>, read: AuditRecord): void {
    if (root !== undefined) this.#root = meet(this.#root, root);
    for (const [holder, { holds = [] }] of rights)
      for (const [granter, hold] of holds) {
        const own = this.#holds.get(holder)?.get(granter);
        this.#held(holder, granter, own === undefined ? hold : meet(own, hold));
      }
    for (const [holder, head] of rights) this.#stand(holder, met(this.#sides.get(holder) ?? OPEN, head), 'fork', read);
  }

  #chain(holder: string): readonly HeldRights[] {
    const chain: HeldRights[] = [];
    for (let at: string | null | undefined = holder; at != null; ) {
      const { exercise, grant } = this.#sides.get(at) ?? OPEN;
      const holds = [...(this.#holds.get(at)?.values() ?? [])];
      const hold = holds.length === 0 ? {} : { hold: holds.reduce(meet) };
      chain.push({ exercise: exercise ?? EVERYTHING, ...(grant === null ? {} : { grant }), ...hold });
      const maker: string | null | undefined = this.lineage.makerOf(at.slice(CELL.length));
      at = maker == null ? undefined : `${CELL}${maker}`;
    }
    return chain;
  }
}

function agentIn(holder: string): string | undefined {
  return holder.startsWith(CELL) ? keyIn(holder.slice(CELL.length), ENTITY) : undefined;
}

function bothSides({ exercise, grant }: Sides): CompiledRights {
  return { exercise: exercise ?? EVERYTHING, grant: grant ?? exercise ?? EVERYTHING };
}

function fitted(of: Capability | null): Capability | null {
  return of === null ? null : canonical(of);
}

function met(before: Sides, head: InheritedRights): Sides {
  const sides = before.grant === null && head.grant === null;
  return {
    exercise: meetSides(before.exercise, head.exercise),
    grant: sides ? null : meetSides(before.grant ?? before.exercise, head.grant ?? head.exercise),
  };
}

function meetSides(a: Capability | null, b: Capability | null): Capability | null {
  return a === null && b === null ? null : meet(a ?? EVERYTHING, b ?? EVERYTHING);
}
