/** What a conversation has used, in one line. */
import type { Desk } from './desk.js';

/** Tokens, cost and the fill of the model's window. */
export async function usageLine({ world, session, model }: Desk): Promise<string> {
  const state = await session.state();
  if (state === undefined) return `${model} · /help`;
  const { items } = await world.sessions({ limit: 1_000 });
  const ended = items.find(({ key }) => key === session.key)?.usage;
  const now = state.run?.tally;
  const sum = (of: 'tokens_in' | 'tokens_out' | 'micro_money'): number => (ended?.[of] ?? 0) + (now?.[of] ?? 0);
  const cost = sum('micro_money');
  const parts = [
    model,
    `${short(sum('tokens_in'))} tokens in, ${short(sum('tokens_out'))} out`,
    ...(cost === 0 ? [] : [state.config.price === null ? `at least ${dollars(cost)}` : dollars(cost)]),
    ...contextPart(state.window?.reading ?? null),
    '/help',
  ];
  return parts.join(' · ');
}

function contextPart(reading: { readonly tokens: number; readonly of: number | null } | null): string[] {
  if (reading === null || reading.tokens === 0) return [];
  if (reading.of === null) return [`context ${short(reading.tokens)}`];
  return [`context ${Math.round((100 * reading.tokens) / reading.of)} % of ${short(reading.of)}`];
}

/** A count in at most four characters. */
export function short(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 100_000) return `${(count / 1_000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** Micro-dollars as dollars. */
export function dollars(micro: number): string {
  return `$${(micro / 1_000_000).toFixed(micro < 1_000_000 ? 4 : 2)}`;
}
