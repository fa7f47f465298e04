/** What is in a body of the protocol. */

/** The method of a message; undefined for anything else. */
export function methodOf(body: unknown): string | undefined {
  const { method } = (body ?? {}) as { readonly method?: unknown };
  return typeof method === 'string' ? method : undefined;
}

/** The messages of a body: those of a batch, or the one that it is. */
export function messagesOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : [body];
}

/** The id of the request that a message cancels; undefined for other messages. */
export function cancelledBy(message: unknown): string | number | undefined {
  if (methodOf(message) !== 'notifications/cancelled') return undefined;
  const { params } = message as { readonly params?: { readonly requestId?: unknown } | null };
  const id = params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
