/** What has happened, as the journal tells it: nothing is kept besides. */
import type { Actor, AgentWorld } from 'reprise';

/** Something that a person wants to hear of. */
export type Happening =
  | { readonly kind: 'shared'; readonly seq: number; readonly item: string; readonly author: string }
  | {
      readonly kind: 'swarm';
      readonly seq: number;
      readonly id: string;
      readonly status: string;
      readonly code: string | null;
    }
  | {
      readonly kind: 'judged';
      readonly seq: number;
      readonly by: string;
      /** Who gave the verdict in the name of that entity. */
      readonly actor: Actor;
      readonly of: string;
      readonly item: string;
      readonly verdict: string;
    }
  | {
      readonly kind: 'trust';
      readonly seq: number;
      readonly by: string;
      readonly of: string;
      readonly score: number;
      readonly tier: string;
    }
  | {
      readonly kind: 'status';
      readonly seq: number;
      readonly of: string;
      readonly status: string;
      /** Who asked for it; absent where time or failures did. */
      readonly actor?: Actor;
    }
  | {
      readonly kind: 'ended';
      readonly seq: number;
      readonly operation: string;
      readonly effect: string;
      readonly code: string;
    };

type Frames = ReturnType<AgentWorld['kernel']['frames']>;
type Records = (Frames extends AsyncGenerator<infer F> ? F : never) extends { readonly records: infer R } ? R : never;

/** What happens, from a frame on; it goes on with the world. With `until`, it ends after that frame. */
export async function* happenings(
  world: AgentWorld,
  { from = 0, until = Number.POSITIVE_INFINITY, signal }: { from?: number; until?: number; signal?: AbortSignal } = {},
): AsyncGenerator<Happening> {
  const kinds = new Map<string, string>();
  for await (const { seq, records } of world.kernel.frames(from, signal)) {
    yield* inFrame(seq, records, kinds);
    if (seq >= until) return;
  }
}

function* inFrame(seq: number, records: Records, kinds: Map<string, string>): Generator<Happening> {
  for (const record of records) {
    if (record.kind === 'effect') kinds.set(String(record.effect), record.name);
    if (record.kind === 'settled' && record.by === 'revoked') {
      const effect = String(record.effect);
      yield {
        kind: 'ended',
        seq,
        operation: kinds.get(effect) ?? 'an operation',
        effect,
        code: record.code ?? record.status,
      };
    }
    if (record.kind !== 'fact' || record.from === null) continue;
    const happening = ofFact(seq, record.name, record.from[1], record.value as never);
    if (happening !== undefined) yield happening;
  }
}

function ofFact(seq: number, name: string, by: string, value: Record<string, never>): Happening | undefined {
  const { agent_id: of, item_id: item, verdict, tier, ppm, status, code, author, id } = value;
  switch (name) {
    case 'memory/Written@1':
      if (!by.startsWith('group:')) return undefined;
      return { kind: 'shared', seq, item: `${by}#${id}`, author: String(author).replace('society/Entity@1/', '') };
    case 'society/SwarmChanged@1':
      return { kind: 'swarm', seq, id: by, status: status ?? '', code: code ?? null };
    case 'society/Assessed@1':
      return {
        kind: 'judged',
        seq,
        by,
        actor: value.by as never,
        of: of ?? '',
        item: item ?? '',
        verdict: verdict ?? '',
      };
    case 'society/TrustChanged@1':
      return { kind: 'trust', seq, by, of: of ?? '', score: Number(ppm) / 1_000_000, tier: tier ?? '' };
    case 'society/StatusChanged@1':
      return {
        kind: 'status',
        seq,
        of: of ?? '',
        status: value.new ?? '',
        ...(value.by === undefined ? {} : { actor: value.by }),
      };
    default:
      return undefined;
  }
}
