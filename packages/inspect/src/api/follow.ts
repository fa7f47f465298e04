/** `GET /api/follow`: what the world says by itself, as server-sent events: the newest frame, and its process. */
import type { ReadonlyStore } from '@reprise/kernel';
import { followHeads } from '@reprise/kernel/follow';
import { toJson } from '@reprise/operators/text';
import type { FollowMessage, WorldReport } from '../contract/index.js';

/** How often the end of the journal is looked at, and how often the process of the world, in milliseconds. */
const [HEAD_MS, PROCESS_MS] = [200, 1_000];

/** Follows a world until the signal is aborted. The first two messages say what is. */
export async function* follow(store: ReadonlyStore, signal: AbortSignal): AsyncGenerator<string> {
  let known = '';
  let last: { readonly seq: number; readonly seen: number } | undefined;
  let looked = Number.NEGATIVE_INFINITY;
  let said: string | undefined;
  for await (const { seq, digest } of followHeads(store, { signal, pollMs: HEAD_MS })) {
    if (digest !== known) {
      const at = await timeOf(store, seq);
      // A process may have been silent for long when the page is opened.
      const before = last === undefined ? Math.max(0, Date.now() - at) : 0;
      last = { seq, seen: performance.now() - before };
      known = digest;
      yield event({ type: 'head', frame: seq, at, head: digest });
    }
    if (performance.now() - looked >= PROCESS_MS) {
      looked = performance.now();
      const process: WorldReport['process'] = (await store.status?.())?.writer ?? 'unknown';
      const silent_ms = Math.round(performance.now() - (last?.seen ?? 0));
      // An open world says each second that it is silent; another one is said once.
      if (process === 'open' || process !== said) yield event({ type: 'process', process, silent_ms });
      else yield ': \n\n';
      said = process;
    }
  }
}

async function timeOf(store: ReadonlyStore, seq: number): Promise<number> {
  if (seq >= 0) for await (const { at } of store.journal.read(seq, seq)) return at;
  return 0;
}

function event(message: FollowMessage): string {
  return `data: ${toJson(message)}\n\n`;
}
